"""Failed, excluded and missing runs: a site that shows them recounts like any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.built import SHIPPED
from support.evidence import died, runtime_execution, write_project

from tallymark.evidence import canonical
from tallymark.evidence.canonical import sha256_hex
from tallymark.recount import files, published, sample
from tallymark.recount.verify import verify
from tallymark.site.build import build_site

TAIL = """
[[claims]]
id = "unmeasured"
text = "{{tasks=1000000,agents=100:elapsed}} ms; {{constant:workers}} workers, {{ledger:failed}} failed."
test = {{cell = "tasks=1000000,agents=100:elapsed", op = ">", value = 3}}
[[exclude]]
sha256 = "{sha256}"
pointer = "$.runs[3]"
reason = "The machine was busy"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped report without its claims: one task count only, one run killed, one excluded."""
    document = runtime_execution(tasks=100_000, seed=3, label="100k")
    document["runs"][1] = died(document["runs"][1])
    spec = SHIPPED.read_text(encoding="utf-8").split("[[claims]]")[0]
    spec = "\n".join(line for line in spec.splitlines() if "{tasks=1000000,agents=1000:runs}" not in line)
    spec += TAIL.format(sha256=sha256_hex(canonical.encode(document)))
    root = write_project(tmp_path_factory.mktemp("odd"), {"100k": document}, spec)
    build_site(root)
    return root


def test_it_recounts_without_a_difference(project: Path) -> None:
    assert verify(project / "build" / "site", project).differences == ()


def test_each_kind_of_absence_is_recounted_as_such(project: Path) -> None:
    found = published.read_site(files.from_folder(project / "build" / "site"))
    report = found.reports["runtime-scale"]
    ledger = report.table["ledger"]
    assert (ledger["found"], ledger["published"], ledger["failed"], len(ledger["excluded"])) == (6, 4, 1, 1)
    assert report.rows["tasks=1000000,agents=100"]["cells"]["elapsed"]["absent"]["kind"] == "not_measured"


def test_every_cell_that_is_there_agrees_with_its_hand_calculation(project: Path) -> None:
    found = published.read_site(files.from_folder(project / "build" / "site"))
    drawn, total = sample.draw(found, 1000, seed=1)
    assert len(drawn) == total > 20
    assert all(one.agrees for one in drawn)
