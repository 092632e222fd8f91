"""``tallymark load plan``: how large a load test must be, and which ceiling it will hit first."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tallymark.agentload import commands, load_plan, overrides, plan_text
from tallymark.agentload.ceilings import Processor
from tallymark.agentload.load_plan import LoadPlan
from tallymark.errors import UsageError
from tallymark.evidence import canonical
from tallymark.printable import log_line, printable


@click.command()
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A value of the scenario by its path (slots.workers, providers.vendor.tokens_per_min); repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="The plan for a program, with full numbers.")
@click.option(
    "--cpu-ms",
    type=click.FloatRange(min=0, min_open=True),
    help="CPU milliseconds that a task takes of your own machine; unknown unless said.",
)
@click.option("--cores", type=click.IntRange(min=1), help="CPU cores of your own machine.")
@click.pass_obj
def plan(
    project: Path,
    scenario: Path,
    settings: tuple[str, ...],
    as_json: bool,
    cpu_ms: float | None,
    cores: int | None,
) -> None:
    """Size a load test of the SCENARIO (TOML, schema agent-scenario/1.0) before it is run.

    Little's law with the durations of a seeded pilot, the share of slots that the longest tasks hold, every
    limit as tasks a minute with its arithmetic, what the test will need. An unknown limit is a finding.

    Exit codes: 0 planned, also when the plan says overloaded; 2 a bad scenario or no compiled runtime,
    5 the file is unreadable.
    """
    if (cpu_ms is None) != (cores is None):
        raise UsageError("--cpu-ms, --cores", "one is given without the other", "give both, or neither")
    processor = None if cpu_ms is None or cores is None else Processor(cpu_ms, cores)
    chosen = overrides.parse(settings)
    several = next((one.key for one in chosen if len(one.values) > 1), None)
    if several is not None:
        raise UsageError(f"--set {several}", "a plan is for one value", "give one; load sweep takes several")
    made = load_plan.plan(commands.checked_scenario(scenario, project, chosen), processor)
    if as_json:
        sys.stdout.write(canonical.encode(load_plan.to_json(made)).decode("utf-8"))
    elif sys.stdout.isatty():
        sys.stdout.write(_rich(made))
    else:
        sys.stdout.write("".join(f"{log_line(line)}\n" for line in _plain(made)))


def _plain(made: LoadPlan) -> list[str]:
    lines = [f"{made.scenario.name}: {made.scenario.title}"]
    for title, texts in plan_text.before_table(made):
        lines += ["", title, *(f"  {text}" for text in texts)]
    rows = [plan_text.HEADINGS, *(plan_text.row(one) for one in made.ceilings)]
    widths = [max(len(texts[at]) for texts in rows) for at in range(len(plan_text.HEADINGS))]
    lines += ["", "Ceilings"]
    for name, *rest in rows:
        cells = [text.rjust(width) for text, width in zip(rest, widths[1:], strict=True)]
        lines.append("  " + "  ".join([name.ljust(widths[0]), *cells]))
    for title, texts in plan_text.after_table(made):
        lines += ["", title, *(f"  {text}" for text in texts)]
    return lines


def _rich(made: LoadPlan) -> str:
    """The same texts, with the ceilings drawn as a table; the first one stands out."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=Text("Ceilings"))
    for heading in plan_text.HEADINGS:
        drawn.add_column(Text(heading), justify="left" if heading == "ceiling" else "right", overflow="fold")
    for one in made.ceilings:
        style = "bold" if one is made.first else ""
        drawn.add_row(*(Text(printable(text), style) for text in plan_text.row(one)))
    console = Console(file=sys.stdout, highlight=False)
    with console.capture() as captured:
        console.print(Text(printable(f"{made.scenario.name}: {made.scenario.title}"), "bold"))
        for part in (plan_text.before_table(made), drawn, plan_text.after_table(made)):
            if isinstance(part, Table):
                console.print(part)
                continue
            for title, texts in part:
                console.print(Text(f"\n{title}", "bold"))
                for text in texts:
                    console.print(Text(f"  {printable(text)}"))
    return captured.get()
