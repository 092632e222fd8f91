"""``tallymark schema check`` and ``lock``: drift of a released schema is refused, each kind of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.evidence import imported_execution

from tallymark import errors
from tallymark.check.schema_lock import current_lock, lock_findings, read_lock, semantic_sha256
from tallymark.check.schema_rules import schema_findings
from tallymark.cli.schema import schema
from tallymark.evidence import canonical
from tallymark.schemas import SchemaSet

SCHEMAS = Path(__file__).parents[2] / "schemas"
IMPORTED = "imported-execution/1.0.schema.json"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two of the shipped kinds in their first version, locked, and one valid document."""
    schemas = tmp_path / "schemas"
    for kind in ("imported-execution", "findings"):
        shutil.copytree(SCHEMAS / kind, schemas / kind)
    for newer in ("1.1.schema.json", "examples/latency.json"):
        (schemas / "imported-execution" / newer).unlink()
    texts = json.loads((SCHEMAS / "definitions.json").read_bytes())
    first = (name for name in texts if name.startswith("imported-") and "latency" not in name)
    used = {name: texts[name] for name in first}
    (schemas / "definitions.json").write_bytes(canonical.encode(used))
    (schemas / "lock.json").write_bytes(current_lock(SchemaSet(schemas)).to_bytes())
    data = tmp_path / "data" / "x"
    data.mkdir(parents=True)
    (data / "a.json").write_bytes(canonical.encode(imported_execution()))
    return tmp_path


def call(project: Path, command: str) -> Result:
    return CliRunner().invoke(schema, [command], obj=project, standalone_mode=False)


def problems(project: Path) -> list[str]:
    result = call(project, "check")
    assert result.exception is None, result.exception
    lines = [line for line in result.stdout.splitlines() if line]
    assert (result.return_value != 0) == bool(lines)
    return lines


def edited(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    value = json.loads(path.read_bytes())
    change(value)
    path.write_bytes(canonical.encode(value))


def test_the_shipped_schemas_are_locked_sound_and_pass_with_their_examples() -> None:
    found = SchemaSet(SCHEMAS)
    assert [finding.line() for finding in (*lock_findings(found), *schema_findings(found))] == []


def test_a_project_without_drift_is_clean(project: Path) -> None:
    assert problems(project) == []
    assert call(project, "check").return_value == errors.CLEAN


def test_a_changed_unit_is_a_changed_meaning(project: Path) -> None:
    path = project / "schemas" / IMPORTED
    path.write_text(path.read_text("utf-8").replace('"x-unit": "s"', '"x-unit": "ms"', 1), "utf-8")
    assert any("changed in meaning in place" in line for line in problems(project))
    assert call(project, "check").return_value == errors.FINDINGS


def test_a_changed_wording_is_refused_too_and_told_apart(project: Path) -> None:
    path = project / "schemas" / IMPORTED
    path.write_text(path.read_text("utf-8").replace("One sample a run", "One run a sample", 1), "utf-8")
    assert any("changed in wording in place" in line for line in problems(project))


def test_a_released_schema_that_is_gone_is_missed(project: Path) -> None:
    (project / "schemas" / "findings" / "1.0.schema.json").unlink()
    assert "schemas/findings/1.0.schema.json::$: the released schema is missing" in problems(project)[0]


def test_a_new_schema_must_be_locked_and_then_is(project: Path) -> None:
    old = project / "schemas" / "findings" / "1.0.schema.json"
    text = (
        old.read_text("utf-8").replace("findings/1.0", "findings/1.1").replace("findings:1.0", "findings:1.1")
    )
    old.with_name("1.1.schema.json").write_text(text, "utf-8")
    example = project / "schemas" / "findings" / "examples"
    for path in list(example.iterdir()):
        path.with_name("newer.json").write_text(
            path.read_text("utf-8").replace("findings/1.0", "findings/1.1"), "utf-8"
        )
    assert [line for line in problems(project) if "is not locked" in line]
    assert call(project, "lock").exception is None
    assert not [line for line in problems(project) if "is not locked" in line]


def test_a_definition_never_changes_its_text(project: Path) -> None:
    edited(
        project / "schemas" / "definitions.json", lambda d: d.update({"imported-elapsed": "Something else."})
    )
    assert any(
        "definitions.json::$.imported-elapsed: the text of a released" in line for line in problems(project)
    )


def test_locking_refuses_what_changed_and_leaves_the_lock_alone(project: Path) -> None:
    lock = project / "schemas" / "lock.json"
    before = lock.read_bytes()
    edited(project / "schemas" / IMPORTED, lambda value: value.update(title="Another title"))
    result = call(project, "lock")
    assert isinstance(result.exception, errors.FindingsError)
    assert result.exception.exit_code == errors.FINDINGS
    assert lock.read_bytes() == before


def test_locking_again_changes_nothing(project: Path) -> None:
    lock = project / "schemas" / "lock.json"
    before = lock.read_bytes()
    assert call(project, "lock").exception is None
    assert lock.read_bytes() == before


def test_locking_needs_a_project_with_schemas(tmp_path: Path) -> None:
    result = call(tmp_path, "lock")
    assert isinstance(result.exception, errors.UsageError)


def run(value: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = value["properties"]["runs"]["items"]
    return found


def at(value: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = run(value)["properties"][name]
    return found


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda v: at(v, "elapsed_s").update({"x-unit": "sec"}), "unit 'sec' is unknown"),
        (lambda v: at(v, "index").pop("x-role"), "the property has no role"),
        (lambda v: at(v, "index").pop("description"), "the property has no description"),
        (lambda v: at(v, "index").pop("maximum"), "no maximum"),
        (lambda v: at(v, "index").update({"maximum": 2**60}), "no maximum"),
        (lambda v: run(v).pop("additionalProperties"), "takes unknown keys"),
        (lambda v: run(v).pop("required"), "required is not stated"),
        (lambda v: at(v, "elapsed_s").pop("x-definition"), "lacks unit, direction or definition"),
        (lambda v: at(v, "elapsed_s").pop("x-definition"), "no schema uses the definition"),
        (lambda v: at(v, "elapsed_s").update({"x-definition": "x"}), "definition 'x' does not exist"),
        (lambda v: at(v, "elapsed_s").update({"x-direction": "up"}), "lacks unit, direction or definition"),
        (lambda v: at(v, "benchmark").update(pattern="^[a-z]+$"), "lets a final newline through"),
        (lambda v: at(v, "benchmark").update(pattern="[a-z]$(?!\\n)"), "a pattern is open"),
        (lambda v: v["properties"]["source"]["properties"]["sha256"].pop("maxLength"), "no maxLength"),
        (lambda v: v.pop("title"), "title is missing"),
        (lambda v: v.update({"$id": "https://example.org/x"}), "the id does not follow"),
        (lambda v: v.update({"$schema": "http://json-schema.org/draft-07/schema#"}), "dialect"),
        (lambda v: v["properties"]["schema"].update(const="other/1.0"), "not made to name this schema"),
        (lambda v: at(v, "index").update(minimum="one"), "not a JSON Schema"),
    ],
)
def test_an_unsound_schema_is_named(
    project: Path, change: Callable[[dict[str, Any]], None], problem: str
) -> None:
    edited(project / "schemas" / IMPORTED, change)
    found = [finding.line() for finding in schema_findings(SchemaSet(project / "schemas"))]
    assert any(problem in line for line in found), found


def test_an_example_that_fails_its_schema_or_a_rule_is_named(project: Path) -> None:
    example = project / "schemas" / "imported-execution" / "examples" / "hyperfine.json"
    edited(example, lambda value: value["runs"][0].update(repetition=2))
    assert any("examples/hyperfine.json::$.runs[0].repetition: 2 is sample 1" in p for p in problems(project))
    edited(example, lambda value: value["runs"][0].update(index=-1))
    assert any("examples/hyperfine.json::$.runs[0].index: -1 is below" in p for p in problems(project))
    example.write_bytes(b'{"schema": "imported-execution/1.0", "a": NaN}')
    assert any("NaN is not a JSON number" in p for p in problems(project))


def test_a_schema_without_an_example_is_named(project: Path) -> None:
    shutil.rmtree(project / "schemas" / "findings" / "examples")
    assert any("findings/1.0 has no example" in line for line in problems(project))


def test_evidence_that_no_longer_passes_is_named(project: Path) -> None:
    path = project / "data" / "x" / "a.json"
    edited(path, lambda value: value["runs"][0].update(exit_code=1))
    assert any("a.json::$.runs[0].exit_code: 1 with outcome completed" in p for p in problems(project))
    path.write_bytes(b"{")
    assert call(project, "check").return_value == errors.UNREADABLE


def test_wording_order_and_inlining_leave_the_meaning_alone() -> None:
    one = {
        "title": "A",
        "required": ["a", "b"],
        "properties": {"a": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {"type": "integer"}},
    }
    two = {
        "properties": {"a": {"type": "integer", "description": "x"}},
        "required": ["b", "a"],
        "$comment": "y",
    }
    assert semantic_sha256(one) == semantic_sha256(two)
    assert semantic_sha256(one) != semantic_sha256({**two, "required": ["a"]})


def test_a_property_called_title_is_part_of_the_meaning() -> None:
    one = {"properties": {"title": {"type": "string"}}}
    assert semantic_sha256(one) != semantic_sha256({"properties": {"title": {"type": "integer"}}})


def test_a_recursive_schema_has_a_digest() -> None:
    tree = {"$defs": {"t": {"properties": {"next": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"}
    assert len(semantic_sha256(tree)) == 64


def test_the_committed_lock_is_what_locking_would_write() -> None:
    found = SchemaSet(SCHEMAS)
    assert read_lock(found) == current_lock(found)


@pytest.mark.parametrize(
    ("key", "change", "problem"),
    [
        ("tenants", lambda node: node.pop("x-default-before"), "x-default-before is missing"),
        ("agents", lambda node: node.update({"x-default-before": 1}), "x-default-before is never used"),
    ],
)
def test_a_key_says_what_older_documents_are_read_with_exactly_when_they_lack_it(
    tmp_path: Path, key: str, change: Callable[[dict[str, Any]], None], problem: str
) -> None:
    shutil.copytree(SCHEMAS, tmp_path / "schemas")
    path = tmp_path / "schemas" / "runtime-execution" / "1.1.schema.json"
    edited(path, lambda schema: change(schema["$defs"][key]))
    found = list(schema_findings(SchemaSet(tmp_path / "schemas")))
    assert [(finding.pointer, finding.problem) for finding in found] == [(f"$.runs[].{key}", problem)]
