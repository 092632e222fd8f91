"""Names of people and machines, and credentials, in what is published. The text itself is never repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallymark.evidence.personal import KnownNames, personal
from tallymark.recount.difference import Difference
from tallymark.recount.files import Files

_TEXT = (".html", ".json", ".csv", ".txt", ".md", ".xml", ".toml", ".svg", ".py")
# Lines of JSON without a letter or a quote are most of the evidence and can hold nobody's name.
_NUMBERS = re.compile(r"^[-+.,\d\[\]{} ]+$", re.MULTILINE)
# Bundled code of others names its authors: it is not ours to redact, and its licence forbids it.
_FOREIGN = ("assets/javascripts/", "assets/stylesheets/", "assets/plotly")


def find_leaks(files: Files, known: KnownNames) -> Iterator[Difference]:
    """Every leak in the names and the text of the published files."""
    for name in files.names:
        for hit in personal(name, known):
            yield Difference(name, "file name", f"holds {hit.kind}", _do(hit.secret))
        if name.startswith(_FOREIGN) or not (name.endswith(_TEXT) or name.endswith(".js")):
            continue
        text = files.read(name).decode("utf-8", "replace")
        if name.endswith(".json"):
            text = _NUMBERS.sub("", text)
        for hit in personal(text, known):
            line = text.count("\n", 0, hit.start) + 1
            yield Difference(name, f"line {line}", f"holds {hit.kind}", _do(hit.secret))


def _do(secret: bool) -> str:
    if secret:
        return "Change the credential, it has leaked; then take it out and build the site again"
    return "Take it out where it comes from, and build the site again"
