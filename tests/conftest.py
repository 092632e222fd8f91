"""Settings of the whole test run."""

from __future__ import annotations

from hypothesis import settings

# No deadline: a slow moment of a shared machine is not a failure.
settings.register_profile("tallymark", deadline=None, max_examples=60, print_blob=True)
settings.load_profile("tallymark")
