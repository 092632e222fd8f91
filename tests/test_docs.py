"""What a user reads: every command explains itself and is documented; every schema has an example."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tallymark import schemas
from tallymark.cli import COMMANDS, root
from tallymark.evidence import strict_json

ROOT = Path(__file__).resolve().parents[1]
READ = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "site/docs").glob("**/*.md"))]


def walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    """Every command with its words, groups before their members: ``("report init", <command>)``."""
    yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            assert member is not None
            yield from walk(member, (*path, name))


ALL = [
    pair
    for name in COMMANDS
    for pair in walk(
        root.get_command(click.Context(root), name) or pytest.fail(f"no command {name}"), (name,)
    )
]
NAMES = [name for name, _ in ALL]


@pytest.mark.parametrize(("name", "command"), ALL, ids=NAMES)
def test_a_command_and_each_of_its_options_explain_themselves(name: str, command: click.Command) -> None:
    assert command.help and len(command.help) > 20, name
    silent = [
        parameter.name
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.help
    ]
    assert silent == []


@pytest.mark.parametrize("name", [name for name, command in ALL if not isinstance(command, click.Group)])
def test_a_command_is_in_the_documentation(name: str) -> None:
    pattern = re.compile(rf"\btallymark (?:--project \S+ )?{re.escape(name)}\b")
    assert any(pattern.search(path.read_text(encoding="utf-8")) for path in READ), f"tallymark {name}"


def test_the_documentation_names_no_command_that_is_not_there() -> None:
    groups = {name for name, command in ALL if isinstance(command, click.Group)}
    for path in READ:
        for word, following in re.findall(
            r"^\s*(?:\$ )?tallymark ([a-z]+)(?: ([a-z]+))?", path.read_text("utf-8"), re.M
        ):
            assert word in COMMANDS, f"{path.name}: tallymark {word}"
            if word in groups and following:
                assert f"{word} {following}" in NAMES, f"{path.name}: tallymark {word} {following}"


@pytest.mark.parametrize("schema_id", schemas.released())
def test_a_schema_has_an_example_that_it_accepts(schema_id: str) -> None:
    examples = schemas.shipped().examples(schema_id)
    assert examples, f"schemas/{schema_id.split('/')[0]}/examples/*.json"
    for path, data in examples:
        assert schemas.errors(schema_id, strict_json.parse(data, path)) == [], path


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("**/*.json")), ids=lambda path: path.name)
def test_an_example_file_is_strict_json(path: Path) -> None:
    assert strict_json.parse(path.read_bytes(), path.name) == json.loads(path.read_bytes())
