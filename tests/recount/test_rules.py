"""The published rules are those of the schemas and of the project's TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.evidence import REPORT_SPEC, runtime_execution
from support.published import NAME, edit, replace_once, sign, write_site

from tallymark.evidence import canonical
from tallymark.recount.verify import verify

SPEC = f"reports/{NAME}.spec.json"
REPORT = f"reports/{NAME}.json"
TOML = Path("site", "reports", f"{NAME}.toml")


def change(site: Path, alter: Callable[[dict[str, Any]], Any]) -> None:
    """Change the spec in the same way in both places where it is published."""
    for name in (SPEC, REPORT):
        value = json.loads((site / name).read_bytes())
        alter(value if name == SPEC else value["spec"])
        (site / name).write_bytes(canonical.encode(value))
    sign(site)


def lines(site: Path, project: Path | None = None) -> list[str]:
    return [one.line() for one in verify(site, project).differences]


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (lambda s: s["config_keys"].pop(), "$.config_keys: shown"),
        (
            lambda s: s["config_keys"].append({"name": "x", "pointer": "$.runs[].workers"}),
            "$.config_keys: shown",
        ),
        (
            lambda s: s["columns"][1].update(source_unit="s"),
            '$.columns[1].source_unit: shown "s", recomputed "ms"',
        ),
        (lambda s: s["columns"][1].update(unit="s"), "$.columns[1].factor: shown"),
        (lambda s: s["columns"][1].update(factor=[1000, 1]), '$.columns[1].factor: shown "[1000,1]"'),
        (lambda s: s["columns"][4].update(factor=[1, 1000000]), "$.columns[4].factor: shown"),
        (lambda s: s["columns"][1].update(direction="higher"), '$.columns[1].direction: shown "higher"'),
        (
            lambda s: s["columns"][1].update(definition="Fast"),
            "$.columns[1].definition: lacks what the schema",
        ),
        (lambda s: s["columns"][1].update(rule="Rounded to 2 places"), "$.columns[1].rule"),
        (lambda s: s["columns"][1].update(unit="parsec"), "$.columns[1].factor: shown"),
    ],
)
def test_a_rule_that_the_schema_does_not_give_is_named(
    site: Path, alter: Callable[[dict[str, Any]], Any], said: str
) -> None:
    change(site, alter)
    assert any(line.startswith(f"{SPEC}::") and said in line for line in lines(site)), lines(site)


@pytest.mark.parametrize(
    ("old", "new", "pointer"),
    [
        ("places = 3", "places = 2", "$.columns[1].places"),
        ("version = 1", "version = 2", "$.version"),
        ('title = "Runtime scale"', 'title = "Runtime"', "$.title"),
        ("repetitions = 3", "repetitions = 4", "$.repetitions"),
        ('aggregate = "max_of_runs"', 'aggregate = "min_of_runs"', "$.columns[4].aggregate"),
        ('unit = "MiB"', 'unit = "GiB"', "$.columns[4].unit"),
        ("More roles take longer", "More roles take forever", "$.claims"),
        ("The scheduler on one machine", "All schedulers", "$.scope"),
        ("repetitions = 3\n", 'repetitions = 3\nrow_titles = { agents = "users" }\n', "$.row_titles"),
        ('data = ["data/runtime-scale/*.json"]', 'data = ["data/*/*.json"]', "$.data"),
        ('name = "peak_rss"', 'name = "rss"', "$.columns"),
    ],
)
def test_a_spec_that_is_not_the_projects_toml_is_named(
    project: Path, site: Path, old: str, new: str, pointer: str
) -> None:
    path = project / TOML
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    (line,) = lines(site, project)
    assert line.startswith(f"{SPEC}::{pointer}: shown")


def test_without_its_toml_the_schema_alone_judges(project: Path, site: Path) -> None:
    (project / TOML).unlink()
    assert lines(site, project) == []


def test_a_toml_that_cannot_be_read_is_said(project: Path, site: Path) -> None:
    (project / TOML).write_text("rows = [")
    (line,) = lines(site, project)
    assert line.startswith(f"{TOML.as_posix()}: cannot be read")


def test_a_table_recomputed_by_another_rule_everywhere_is_still_found(project: Path, site: Path) -> None:
    """Spec, report, page and CSV agree with each other; the project's TOML does not agree with them."""
    for name in (SPEC, REPORT):
        edit(site, name, replace_once('"places": 3', '"places": 3'.replace("3", "1")))
    found = lines(site, project)
    assert any(line.startswith(f"{SPEC}::$.columns[1].places: shown") for line in found)
    assert any(re.search(r"column elapsed: shown", line) for line in found)


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (lambda s: s["config_keys"][-3].update(default_before=1), "overview_bytes varies"),
        (lambda s: s["config_keys"][2].update(default_before=100), "$.config_keys: shown"),
        (lambda s: s["evidence_older"].append("runtime-execution/0.9"), "$.evidence_older: shown"),
    ],
)
def test_what_older_evidence_is_read_with_is_what_the_schema_states(
    tmp_path: Path, alter: Callable[[dict[str, Any]], Any], said: str
) -> None:
    versions = {"old": "1.0", "new": "1.1"}
    documents = {
        label: runtime_execution(tasks=1000, repetitions=3, seed=seed, label=label, version=version)
        for seed, (label, version) in enumerate(versions.items())
    }
    spec = REPORT_SPEC.replace("report-spec/1.0", "report-spec/1.1").replace(
        "repetitions = 3", "repetitions = 6"
    )
    site = write_site(tmp_path, spec, documents) / "build" / "site"
    assert lines(site) == []
    change(site, alter)
    assert any(line.startswith(f"{SPEC}::") and said in line for line in lines(site)), lines(site)
