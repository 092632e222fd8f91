"""Names that try to be HTML, Markdown, a formula, a template or a reference, on the whole road to a page."""

from __future__ import annotations

import csv
import io
import json
import shutil
from html.parser import HTMLParser
from pathlib import Path

from support.console import Console
from support.hyperfine import entry, export

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "&lt;b&gt; a | b",
    "$\\href{javascript:alert(1)}{x}$ [x](javascript:alert(1))",
    '=HYPERLINK("http://e")',
    "-0.5",
    "x, y=1: {z} {{ 9**9 }} `code` **b** %s",
    "a/b/c:d|places=3|exact",
    'it\'s "quoted" 中文',
)


class Scripts(HTMLParser):
    """Collects what a page would run: script bodies, event handlers and links that are no links."""

    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.handlers: list[str] = []
        self.links: list[str] = []
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_script = tag == "script"
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.links += [
            value for name, value in attrs if name in ("href", "src") and value and ":" in value.split("/")[0]
        ]

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.inline.append(data)


def test_hostile_names_are_text_on_every_page_and_every_number_is_recounted(console: Console) -> None:
    """The build recounts its own site; recount does it again from the outside."""
    shutil.copy(ROOT / "mkdocs.yml", "mkdocs.yml")
    entries = [entry(name, times=(0.1, 0.25, 0.2)) for name in NAMES]
    Path("h.json").write_bytes(export(*entries, entry("failing", exit_codes=[1, 1, 1])))
    for arguments in (
        ("import", "hyperfine", "h.json", "--out", "data/x"),
        ("report", "init", "data/x"),
        ("site", "build"),
    ):
        code, _, err = console.run(*arguments)
        assert code == 0, err
    code, out, _ = console.run("recount")
    assert (code, "0 differences" in out) == (0, True)

    page = Path("build/site/reports/x.html").read_text(encoding="utf-8")
    found = Scripts()
    found.feed(page)
    assert not any("alert(1)" in script for script in found.inline)
    assert found.handlers == []
    assert [link for link in found.links if not link.startswith(("http:", "https:"))] == []

    report = json.loads(Path("build/site/reports/x.json").read_bytes())
    assert {row["key"]["benchmark"] for row in report["rows"]} == {*NAMES, "failing"}
    assert {row["cells"]["median"]["text"] for row in report["rows"]} == {"200.0", "all runs failed"}

    table = csv.reader(io.StringIO(Path("build/site/reports/x.csv").read_text(encoding="utf-8")))
    first = {row[0] for row in table}
    assert '\'=HYPERLINK("http://e")' in first, "a formula is text in a spreadsheet"
