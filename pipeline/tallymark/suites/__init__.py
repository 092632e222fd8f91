"""The experiments: what is run, in which order, and how it becomes one document.

The way of a suite: ``settings`` (what was asked) → ``plan`` (every run, in its order) → ``smoke`` and
``precheck`` (may it run at all) → ``execute`` (one child process a run, one journal line a run) →
``compose`` (the document). ``session`` reads a journal back, for ``--resume`` and ``recover``.
"""
