"""Every number on every page: it has a source, and its text is what recounting that source gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tallymark.errors import UnreadableError
from tallymark.recount import conduct, layout, shows, svg
from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.files import Files
from tallymark.recount.html_tree import Element, parse
from tallymark.recount.html_tree import Page as HtmlPage
from tallymark.recount.published import Published
from tallymark.recount.reference import Reference, Unresolved
from tallymark.recount.reference import parse as parse_reference
from tallymark.recount.resolver import resolve
from tallymark.recount.tokens import holds_number, numbers

# Attributes that a browser shows or reads out.
_SPOKEN = (
    "title",
    "alt",
    "aria-label",
    "aria-description",
    "aria-valuetext",
    "placeholder",
    "label",
    "value",
    "start",
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "title")
_REBUILD = "Build the site again, or find out who edited the page"


@dataclass(slots=True)
class Tally:
    """What was compared on the pages, and what did not agree."""

    cells: int = 0
    prose: int = 0
    illustrations: int = 0
    chart_points: int = 0
    differences: list[Difference] = field(default_factory=list)


@dataclass(slots=True)
class _Page:
    """One page while it is read; references that fail for one cause are reported once."""

    name: str
    published: Published
    tally: Tally
    causes: dict[str, list[Difference]] = field(default_factory=dict)

    def add(self, difference: Difference) -> None:
        self.tally.differences.append(difference)

    def finish(self) -> None:
        for found in self.causes.values():
            first, more = found[0], len(found) - 1
            problem = f"{first.problem} ({more} more numbers on this page)" if more else first.problem
            self.add(Difference(first.file, first.place, problem, first.do))


def read_pages(files: Files) -> tuple[dict[str, HtmlPage], list[Difference]]:
    """Every page of the site by name, in order, and the pages that cannot be read."""
    trees: dict[str, HtmlPage] = {}
    unreadable: list[Difference] = []
    for name in files.under("", ".html"):
        try:
            trees[name] = parse(files.text(name))
        except UnreadableError as error:
            unreadable.append(Difference(name, "", error.problem, error.do))
    return trees, unreadable


def compare_pages(published: Published, trees: Mapping[str, HtmlPage]) -> Tally:
    """Every number of the pages ``trees`` against the recount."""
    tally = Tally()
    known: set[str] = set()
    outside: list[tuple[str, Element]] = []
    tables: dict[str, str] = {}
    for name, tree in trees.items():
        page = _Page(name, published, tally)
        for line, problem in tree.ambiguous:
            page.add(Difference(name, f"line {line}", problem, "Write plain, well-nested markup"))
        if len(tree.root.all("article")) > 1:
            page.add(Difference(name, "", "has more than one <article>", "Write one article a page"))
        tally.differences += conduct.compare_conduct(name, tree.root)
        article = tree.article()
        if article is not None:
            _read_article(page, article)
            known.update(token for one in article.all(*_HEADINGS) for token in numbers(one.text()))
            tally.differences += layout.compare_tables(published, name, article, tables)
            for own in (report for report, page in tables.items() if page == name):
                if own in published.reports:
                    tally.differences += shows.compare_shown(published.reports[own], name, article)
            if name.removeprefix("reports/").removesuffix(".html") not in published.broken:
                points, differences = svg.compare_charts(published, name, article)
                tally.chart_points += points
                tally.differences += differences
        page.finish()
        outside.append((name, tree.root))
    tally.differences += layout.missing_tables(published, tables)
    for name, root in outside:
        tally.differences += _outside(name, root, known)
    return tally


def _read_article(page: _Page, article: Element) -> None:
    counted: set[int] = set()
    for element in article.elements():
        if element.tag == "script":
            continue
        source = element.nearest("data-from")
        if source is None:
            _without_source(page, element)
        elif source is element:
            _with_source(page, element, counted)
        if source is not None and source.attributes["data-from"] != "illustration":
            _spoken_attributes(page, element, source)


def _without_source(page: _Page, element: Element) -> None:
    texts = [child for child in element.children if isinstance(child, str)]
    spoken = [element.attributes[name] for name in _SPOKEN if name in element.attributes]
    for text in (*texts, *spoken):
        for number in numbers(text):
            problem = f'the number "{number}" has no source (in "{_excerpt(text)}")'
            page.add(Difference(page.name, _line(element), problem, "Take it from the data"))


def _spoken_attributes(page: _Page, element: Element, source: Element) -> None:
    """What is read out for an element must not say another number than its verified text."""
    known = numbers(source.text())
    for name in _SPOKEN:
        for number in numbers(element.attributes.get(name, "")):
            if number not in known:
                problem = f'the attribute {name} says "{number}", which the text does not'
                page.add(Difference(page.name, _line(element), problem, "Leave numbers out of attributes"))


def _with_source(page: _Page, element: Element, counted: set[int]) -> None:
    text = element.text()
    try:
        base = element.nearest("data-base")
        reference = parse_reference(
            element.attributes["data-from"], None if base is None else base.attributes["data-base"]
        )
        if reference.scheme in ("series", "axis"):
            svg.require_chart(element)
        elif reference.scheme == "illustration":
            _illustration(page, element)
        else:
            _compare(page, element, reference, text)
            _count(page, element, text, counted)
    except Unresolved as error:
        place = f'{_line(element)}, shown "{_excerpt(text)}"'
        difference = Difference(page.name, place, error.problem, _REBUILD)
        if error.cause:
            page.causes.setdefault(error.cause, []).append(difference)
        else:
            page.add(difference)


def _compare(page: _Page, element: Element, reference: Reference, text: str) -> None:
    resolved = resolve(page.published, reference)
    place = _place(element, reference)
    if text != resolved.text and text.strip(" \t\r\n") != resolved.text:
        page.add(mismatch(page.name, place, text, resolved.text, _REBUILD))
    exact = element.attributes.get("data-exact")
    if exact and exact != (resolved.exact or ""):
        page.add(mismatch(page.name, f"{place}, exact value", exact, resolved.exact or "", _REBUILD))


def _count(page: _Page, element: Element, text: str, counted: set[int]) -> None:
    """Counts a verified number once: by its table cell, or as prose."""
    if not holds_number(text):
        return
    cell: Element | None = element
    while cell is not None and cell.tag != "td":
        cell = cell.parent
    if cell is None:
        page.tally.prose += 1
    elif id(cell) not in counted:
        counted.add(id(cell))
        page.tally.cells += 1


def _illustration(page: _Page, element: Element) -> None:
    if page.name.startswith("reports/") or element.inside("svg"):
        raise Unresolved("a number of a report is called an illustration")
    page.tally.illustrations += len(numbers(element.text()))


def _place(element: Element, reference: Reference) -> str:
    if reference.scheme == "cell":
        report, row, column = reference.cell()
        return f"report {report}, row {row}, column {column}"
    if reference.scheme == "key":
        report, row, key = reference.last()
        return f"report {report}, row {row}, key {key}"
    return f"{_line(element)}, {reference.text}"


def _line(element: Element) -> str:
    return f"line {element.line}"


def _excerpt(text: str) -> str:
    short = " ".join(text.split())
    return short if len(short) <= 60 else short[:59] + "…"


def _outside(name: str, root: Element, known: set[str]) -> Iterator[Difference]:
    """Titles and navigation repeat headings; any other number there has no source."""
    for element in root.elements():
        if element.tag in ("script", "style", "article") or element.inside("article"):
            continue
        texts = [child for child in element.children if isinstance(child, str)]
        if element.tag == "meta" and element.attributes.get("name") in ("description", "author"):
            texts.append(element.attributes.get("content", ""))
        for number in (token for text in texts for token in numbers(text)):
            if number not in known:
                problem = f'the number "{number}" outside the article repeats no heading'
                yield Difference(name, _line(element), problem, "Take it from the data, inside the article")
