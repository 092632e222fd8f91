"""Names of people and machines, and credentials, in what is published. The text itself is never repeated."""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Iterator

from tallymark import schemas
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
    known = telling(known)
    for name in files.names:
        for hit in personal(name, known):
            yield Difference(name, "file name", f"holds {hit.kind}", _do(hit.secret))
        if name.startswith(_FOREIGN) or not (name.endswith(_TEXT) or name.endswith(".js")):
            continue
        if name.endswith(".charts.js") and name[:-2] + "json" in files:
            continue  # the same bytes, which the comparison of charts makes sure of
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


def telling(known: KnownNames) -> KnownNames:
    """``known`` without names that are words of our own: a user called "max" is on every page by accident."""
    own = _own_words()
    user, host = (name if name and name.lower() not in own else None for name in (known.user, known.host))
    return KnownNames(user, host, known.home)


@functools.cache
def _own_words() -> frozenset[str]:
    """The words of the texts that this package publishes with every site, in lower case."""
    package = importlib.resources.files("tallymark")
    texts = [
        (package / "recount" / "recount.py").read_bytes(),
        (package / "schemas" / "definitions.json").read_bytes(),
    ]
    texts += [schemas.shipped().data(schema) for schema in schemas.released()]
    texts += [one.read_bytes() for one in (package / "templates").iterdir() if one.name.endswith(".j2")]
    return frozenset(re.findall(r"[a-z0-9]+", b" ".join(texts).decode("utf-8", "replace").lower()))
