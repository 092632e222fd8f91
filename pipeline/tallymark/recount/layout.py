"""The table of a report on its page: exactly the recounted rows and columns, in order, once in the site.

A text that is right can still stand in the wrong place. The table is ``<table data-report="NAME">`` on
``reports/NAME.html``: in its head every key and column in the order of the spec, in its body every row.
"""

from __future__ import annotations

from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.html_tree import Element
from tallymark.recount.published import Published, Report
from tallymark.recount.reference import Unresolved, parse

_REBUILD = "Build the site again, or find out who edited the page"


def compare_tables(
    published: Published, page: str, article: Element, tables: dict[str, str]
) -> list[Difference]:
    """The tables of one page. ``tables`` (report → page) remembers where each was seen."""
    found: list[Difference] = []
    own = page.removeprefix("reports/").removesuffix(".html") if page.startswith("reports/") else None
    if own is not None and own not in published.reports and own not in published.broken:
        found.append(Difference(page, "", "is the page of a report that is not published", "Remove the page"))
    for table in article.all("table"):
        name = table.attributes.get("data-report")
        if name is None:
            found += _stray_cells(page, table)
        elif name in tables or name != own:
            problem = f"shows the table of {name} a second time or on the wrong page"
            found.append(Difference(page, f"line {table.line}", problem, _REBUILD))
        elif name in published.reports:
            tables[name] = page
            found += _compare_table(published.reports[name], page, table)
        else:
            tables[name] = page
    return found


def missing_tables(published: Published, tables: dict[str, str]) -> list[Difference]:
    """Reports whose page does not show their table."""
    return [
        Difference(f"reports/{name}.html", "", f"does not show the table of {name}", "Build the site again")
        for name in published.reports
        if name not in tables
    ]


def _stray_cells(page: str, table: Element) -> list[Difference]:
    """A table that is not marked as a report's and yet holds its row keys looks like one to the reader."""
    return [
        Difference(
            page, f"line {row.line}", "has the cells of a report outside its table", "Build the site again"
        )
        for row in table.all("tr")
        if {"cell", "key"} <= {reference.partition(":")[0] for _, reference in references(row)}
    ]


def _compare_table(report: Report, page: str, table: Element) -> list[Difference]:
    heads, bodies = table.all("thead"), table.all("tbody")
    if len(heads) != 1 or len(bodies) != 1 or table.all("table") != [table]:
        return [Difference(page, f"line {table.line}", "has not one head and one body", _REBUILD)]
    return _compare_head(report, page, heads[0]) + _compare_body(report, page, bodies[0])


def _compare_head(report: Report, page: str, head: Element) -> list[Difference]:
    cells = [cell for row in head.all("tr") for cell in row.children if isinstance(cell, Element)]
    titles = [_key_title(report, at, key) for at, key in enumerate(report.spec["rows"])]
    titles += [f"spec:{report.name}/$.columns[{at}].title" for at in range(len(report.spec["columns"]))]
    units = {
        f"spec:{report.name}/$.columns[{at}].title": f"spec:{report.name}/$.columns[{at}].unit"
        for at, column in enumerate(report.spec["columns"])
        if column.get("unit") not in (None, "1")
    }
    shown = [[reference for _, reference in references(cell)] for cell in cells]
    wrong = [
        f"header {at + 1} is not {title}"
        for at, title in enumerate(titles)
        if at >= len(shown) or title not in shown[at] or units.get(title, title) not in shown[at]
    ]
    if len(cells) != len(titles):
        wrong.append(f"has {len(cells)} headers for {len(titles)} keys and columns")
    return [Difference(page, f"report {report.name}, table head", problem, _REBUILD) for problem in wrong]


def _key_title(report: Report, at: int, key: str) -> str:
    """A row key that the spec gives a title is shown by it, every other one by its name."""
    titled = key in report.spec.get("row_titles", {})
    return f"spec:{report.name}/$.row_titles.{key}" if titled else f"spec:{report.name}/$.rows[{at}]"


def _compare_body(report: Report, page: str, body: Element) -> list[Difference]:
    rows = [child for child in body.children if isinstance(child, Element)]
    shown = [[_own_reference(cell) for cell in row.children if isinstance(cell, Element)] for row in rows]
    wanted = [_row_references(report, row) for row in report.rows]
    if shown == wanted:
        return []
    place = f"report {report.name}, table"
    flat = [one for row in shown for one in row]
    expected = [one for row in wanted for one in row]
    missing = [one for one in expected if one not in flat]
    extra = [one for one in dict.fromkeys(flat) if one not in expected or flat.count(one) > 1]
    found = [Difference(page, place, f"{_named(one)} is missing", _REBUILD) for one in missing]
    found += [
        Difference(page, place, f"{_named(one)} does not belong there, or stands twice", _REBUILD)
        for one in extra
    ]
    if not found:
        at = next(i for i, row in enumerate(shown) if i >= len(wanted) or row != wanted[i])
        pair = next((a, b) for a, b in zip(shown[at], wanted[at], strict=False) if a != b)
        found = [mismatch(page, f"{place}, row {at + 1}", _named(pair[0]), _named(pair[1]), _REBUILD)]
    return found


def _row_references(report: Report, row: str) -> list[str]:
    keys = [f"key:{report.name}/{row}/{key}" for key in report.spec["rows"]]
    return keys + [f"cell:{report.name}/{row}:{column}" for column in report.columns]


def _named(reference: str) -> str:
    """How a person would say which cell ``reference`` is."""
    try:
        parsed = parse(reference, None)
        _, row, last = parsed.cell() if parsed.scheme == "cell" else parsed.last()
    except Unresolved:
        return f"a cell with {reference or 'no source'}"
    return f"{'column' if parsed.scheme == 'cell' else 'key'} {last} of row {row}"


def _own_reference(cell: Element) -> str:
    """The key or cell that a table cell shows: its own reference, or the only one inside it."""
    found = [text for _, text in references(cell) if text.partition(":")[0] in ("cell", "key")]
    return found[0] if len(found) == 1 else ""


def references(element: Element) -> list[tuple[Element, str]]:
    """Every reference at or below an element, with ``~`` written out; what has no form is left out."""
    found = []
    for one in element.elements():
        if "data-from" not in one.attributes:
            continue
        base = one.nearest("data-base")
        try:
            parsed = parse(
                one.attributes["data-from"], None if base is None else base.attributes["data-base"]
            )
        except Unresolved:
            continue
        options = "".join(
            f"|{name}={value}" if value else f"|{name}" for name, value in parsed.options.items()
        )
        found.append((one, f"{parsed.scheme}:{parsed.rest}{options}" if parsed.rest else parsed.scheme))
    return found
