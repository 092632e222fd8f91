"""The search index repeats the pages: it may not show a number that its page does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tallymark.errors import TallymarkError
from tallymark.evidence import strict_json
from tallymark.recount.difference import Difference
from tallymark.recount.files import Files
from tallymark.recount.html_tree import Page, parse
from tallymark.recount.tokens import numbers

INDEX = "search/search_index.json"
_REBUILD = "Build the site again"


def compare_search(files: Files, trees: Mapping[str, Page]) -> Iterator[Difference]:
    """Every number of the search index that its page does not show."""
    if INDEX not in files:
        return
    try:
        index: Any = strict_json.parse(files.read(INDEX), INDEX)
        entries = [(one["location"], f"{one['title']} {one['text']}") for one in index["docs"]]
    except (TallymarkError, LookupError, TypeError) as error:
        yield Difference(INDEX, "", f"is no search index ({error})", _REBUILD)
        return
    # The index glues table cells together, so numbers are looked for in the page without its spaces.
    texts = {name: "".join(page.root.text().split()) for name, page in trees.items()}
    for at, (location, text) in enumerate(entries):
        page = str(location).partition("#")[0] or "index.html"
        for number in numbers(parse(text).root.text()):
            if number not in texts.get(page, ""):
                problem = f'shows "{number}", which {page} does not'
                yield Difference(INDEX, f"$.docs[{at}]", problem, _REBUILD)
