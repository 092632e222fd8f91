"""A small published site written by hand: the grammar of ``data-from`` without the site builder.

The numbers come from ``tables``, the pages from the templates below, so that a test of ``recount`` compares
two implementations and needs neither Markdown nor a theme.
"""

from __future__ import annotations

import dataclasses
import hashlib
import html
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from support.evidence import REPORT_SPEC, runtime_execution, write_project
from tallymark import tables
from tallymark.evidence import canonical
from tallymark.evidence.canonical import sha256_hex
from tallymark.recount import recount as script
from tallymark.recount.digests import sums_text
from tallymark.recount.files import from_memory
from tallymark.recount.published import Published
from tallymark.recount.verify import compare_site
from tallymark.tables import formats

NAME = "runtime-scale"
CLAIM = r'''
[[claims]]
id = "quick"
text = """\
More roles take longer: {tasks=1000,agents=1000:elapsed} ms instead of {tasks=1000,agents=100:elapsed} ms, \
{constant:workers} workers."""
tolerance = 0.01
[claims.test]
cell = "tasks=1000,agents=100:elapsed"
op = ">"
value = 1
'''
INDEX = """<!doctype html>
<html lang="en"><head><title>Reports</title></head>
<body><nav>Reports</nav>
<article>
<h1>Reports</h1>
<p><span data-from="count:reports">{reports}</span> report, <span data-from="count:cells">{cells}</span> cells
from <span data-from="count:runs">{runs}</span> runs. On p99 and SHA-256 see the method.</p>
<p data-from="illustration">For example, 3 runs of 5 ms each.</p>
</article></body></html>
"""


def write_site(
    folder: Path, spec: str = REPORT_SPEC + CLAIM, documents: dict[str, dict[str, Any]] | None = None
) -> Path:
    """A project in ``folder`` with a site in build/site; returns the project.

    By default of one document: 1,000 tasks with 100 and with 1,000 roles, 3 runs each.
    """
    documents = documents or {"1k": runtime_execution(tasks=1000, seed=1, label="1k")}
    root = write_project(folder, documents, spec)
    report = tables.compute(root, tables.spec.by_name(root, NAME))
    value = report.to_json()
    site = root / "build" / "site"
    files = {
        "index.html": index_page(value).encode(),
        f"reports/{NAME}.html": report_page(value).encode(),
        f"reports/{NAME}.json": canonical.encode(value),
        f"reports/{NAME}.spec.json": canonical.encode(report.spec_json()),
        f"reports/{NAME}.csv": formats.csv_text(report).encode(),
        "recount.py": Path(script.__file__).read_bytes(),
        **{document.path: document.data for document in report.documents},
    }
    for name, data in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_bytes(data)
    sign(site)
    return root


def sign(site: Path) -> None:
    """Write SHA256SUMS anew, as somebody would who changed a file and wants it not to show."""
    names = sorted(p.relative_to(site).as_posix() for p in site.rglob("*") if p.is_file())
    lines = [
        f"{hashlib.sha256((site / name).read_bytes()).hexdigest()}  {name}\n"
        for name in names
        if name != "SHA256SUMS"
    ]
    (site / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")


def differences(read: Published, changes: Mapping[str, str]) -> list[str]:
    """What recount says about a site that was read, with other texts of some of its pages and signed again.

    The raw files and the reports are not read again, so that many edits of a page cost little.
    """
    held = {name: read.files.read(name) for name in read.files.names if name != "SHA256SUMS"}
    held |= {name: text.encode() for name, text in changes.items()}
    held["SHA256SUMS"] = sums_text({name: sha256_hex(data) for name, data in held.items()})
    changed = dataclasses.replace(read, files=from_memory("site", held))
    return [one.line() for one in compare_site(changed).differences]


def edit(site: Path, name: str, change: Callable[[str], str]) -> None:
    """Change the text of one file and sign the site again. The change must change something."""
    path = site / name
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before, f"the edit of {name} changed nothing"
    path.write_text(after, encoding="utf-8", newline="\n")
    sign(site)


def replace_once(old: str, new: str) -> Callable[[str], str]:
    """An edit that replaces the first ``old``, which must be there."""

    def change(text: str) -> str:
        assert old in text, f"{old!r} is not in the file"
        return text.replace(old, new, 1)

    return change


def index_page(value: dict[str, Any]) -> str:
    """The start page: counts over the site, and an illustration."""
    cells = sum(len(row["cells"]) for row in value["rows"])
    return INDEX.format(reports=1, cells=cells, runs=value["ledger"]["published"])


def report_page(value: dict[str, Any]) -> str:
    """The page of the report: all that it must show, and nothing else."""
    name, columns = value["name"], value["spec"]["columns"]
    titles = value["spec"].get("row_titles", {})
    heads = "".join(
        f'<th><span data-from="spec:{name}/$.row_titles.{key}">{titles[key]}</span></th>'
        if key in titles
        else f'<th><span data-from="spec:{name}/$.rows[{at}]">{key}</span></th>'
        for at, key in enumerate(value["spec"]["rows"])
    )
    heads += "".join(_head(name, at, column) for at, column in enumerate(columns))
    rows = "\n".join(_row(name, row) for row in value["rows"])
    claims = "".join(_claim(name, at, claim, value) for at, claim in enumerate(value["claims"]))
    files = "".join(
        f'<p><a href="../{one["path"]}" data-from="file:{one["path"]}|name">{one["path"].split("/")[-1]}</a>'
        f' <code data-from="file:{one["path"]}|sha256">{one["sha256"]}</code></p>\n'
        for one in value["data"]
    )
    rules = "".join(
        f'<li data-from="spec:{name}/$.columns[{at}].rule">{html.escape(one["rule"])}</li>'
        for at, one in enumerate(columns)
    )
    return f"""<!doctype html>
<html lang="en"><head><title>{html.escape(value["title"])}</title></head>
<body><nav>{html.escape(value["title"])}</nav>
<article>
<h1 data-from="spec:{name}/$.title">{html.escape(value["title"])}</h1>
{claims}
{_scope(name, value)}
<table data-report="{name}"><thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody></table>
<ol>{rules}</ol>
{"".join(f"<p>{note}</p>" for note in map(_sentence, value["prose"]["notes"]))}
{_ledger(name, value["ledger"])}
{_runs(value)}
{files}</article></body></html>
"""


def _head(name: str, at: int, column: dict[str, Any]) -> str:
    unit = column["unit"]
    shown = f' <i data-from="spec:{name}/$.columns[{at}].unit">{unit}</i>' if unit != "1" else ""
    return f'<th><span data-from="spec:{name}/$.columns[{at}].title">{column["title"]}</span>{shown}</th>'


def _row(name: str, row: dict[str, Any]) -> str:
    keys = "".join(f'<th data-from="key:~/{key}">{value}</th>' for key, value in row["key"].items())
    cells = "".join(
        f'<td data-from="cell:~:{column}" data-exact="{json.dumps(cell["exact"])}">{cell["text"]}</td>'
        for column, cell in row["cells"].items()
    )
    return f'<tr data-base="{name}/{row["id"]}">{keys}{cells}</tr>'


def _claim(name: str, at: int, claim: dict[str, Any], value: dict[str, Any]) -> str:
    words = {True: "holds", False: "fails", None: "cannot tell"}[claim["holds"]]
    said = _sentence(value["prose"]["claims"][at])
    return (
        f'<p><b data-from="claim:{name}/{claim["id"]}">{words}</b>: '
        f'<span data-from="said:{name}/$.claims[{at}].text">{said}</span></p>'
    )


def _sentence(said: dict[str, Any]) -> str:
    return "".join(
        f'<span data-from="{part["from"]}">{part["text"]}</span>' if "from" in part else part["text"]
        for part in said["parts"]
    )


def _scope(name: str, value: dict[str, Any]) -> str:
    said: list[tuple[str, dict[str, Any]]] = []
    for key, items in value["prose"]["scope"].items():
        if isinstance(items, list):
            said += [(f"{key}[{at}]", item) for at, item in enumerate(items)]
        else:
            said.append((key, items))
    return "".join(
        f'<p data-from="said:{name}/$.scope.{place}">{_sentence(one)}</p>\n' for place, one in said
    )


def _ledger(name: str, ledger: dict[str, Any]) -> str:
    counts = {
        field: len(count) if isinstance(count, list) else count
        for field, count in ledger.items()
        if not isinstance(count, bool)
    }
    return "".join(
        f'<p>Runs {field}: <b data-from="ledger:{name}/{field}">{count}</b>.</p>\n'
        for field, count in counts.items()
    )


def _runs(value: dict[str, Any]) -> str:
    """The outcome of every run; those of the small sites are all completed."""
    runs = [(one["sha256"], at) for one in value["data"] for at in range(one["runs"])]
    return "".join(f'<p data-from="raw:{sha256}/$.runs[{at}].outcome">completed</p>\n' for sha256, at in runs)
