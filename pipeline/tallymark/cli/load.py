"""``tallymark load``: load tests for agent systems, in virtual time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import click

from tallymark import errors
from tallymark.agentload import commands, overrides
from tallymark.agentload.commands import Written
from tallymark.agentload.scenario_file import ScenarioError
from tallymark.cli.load_plan import plan
from tallymark.cli.load_sweep import sweep
from tallymark.cli.load_traces import traces
from tallymark.cli.talk import talk
from tallymark.evidence.documents import shown_path

_STOPPED: Final = 130


class Findings(click.Group):
    """A group that says everything that is wrong with a scenario, a line each, before it gives up."""

    def invoke(self, ctx: click.Context) -> Any:
        """Exit code 2 for a scenario that cannot be simulated, as for any bad spec."""
        try:
            return super().invoke(ctx)
        except ScenarioError as error:
            for line in error.lines():
                talk(line)
            return errors.MISUSE


@click.group(cls=Findings)
def load() -> None:
    """Load tests for agent systems: sizing, simulation, quality under load, traces."""


load.add_command(plan)
load.add_command(sweep)
load.add_command(traces)


@load.command()
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE[,VALUE]",
    help="A value of the scenario by its path (slots.workers, providers.vendor.tokens_per_min); repeatable.",
)
@click.option("--label", default="simulated", show_default=True, help="Name of the document.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the document; data/agent-NAME unless said otherwise.",
)
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Seed in place of the scenario's.")
@click.option("--json", "as_json", is_flag=True, help="Print paths and outcomes as JSON.")
@click.pass_obj
def simulate(
    project: Path,
    scenario: Path,
    settings: tuple[str, ...],
    label: str,
    out: Path | None,
    seed: int | None,
    as_json: bool,
) -> int:
    """Simulate SCENARIO (TOML, schema agent-scenario/1.0) and write its evidence; print the paths.

    Each combination of the settings is run idle and loaded, with cold and with warm caches. A run that its
    deadline ends is overloaded: that is a result.

    Exit codes: 0 written, 1 the document has findings, 2 misuse or a bad scenario (every finding is named),
    130 stopped by the user (what was done is written).
    """
    written = commands.simulate(project, scenario, overrides.parse(settings), label, out, seed)
    for line in written.said:
        talk(line)
    for finding in written.findings:
        talk(finding.line())
    if as_json:
        click.echo(json.dumps(_summary(written), indent=1, ensure_ascii=False))
    else:
        click.echo(shown_path(written.path))
        for path in written.beside:
            click.echo(shown_path(path))
    if written.stopped:
        return _STOPPED
    return errors.FINDINGS if any(one.severity == "error" for one in written.findings) else errors.CLEAN


def _summary(written: Written) -> dict[str, Any]:
    return {
        "document": shown_path(written.path),
        "beside": [shown_path(path) for path in written.beside],
        "runs": list(written.runs),
        "unknown_limits": list(written.unknown_limits),
        "findings": [finding.line() for finding in written.findings],
    }
