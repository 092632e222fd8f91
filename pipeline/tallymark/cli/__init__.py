"""The command line: a thin table of commands, and errors turned into one line and an exit code.

Commands are imported only when they are called, so that ``tallymark check`` never pays for pandas.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import click

from tallymark import __version__, errors

# command name -> "module:attribute" of the click command, and the line shown by --help
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("tallymark.cli.demo:demo", "Run, check, tabulate, build and recount a small suite here."),
    "run": ("tallymark.cli.run:run", "Run a benchmark suite and write its evidence."),
    "recover": ("tallymark.cli.run:recover", "Turn the journal of a killed suite into a document."),
    "check": ("tallymark.cli.check:check", "Check documents against their schema and the rules."),
    "table": ("tallymark.cli.table:table", "Compute the table of a report from its raw files."),
    "site": ("tallymark.cli.site:site", "Build, serve or photograph the static site."),
    "recount": ("tallymark.cli.recount:recount", "Recompute a published site or bundle and compare it."),
    "explain": ("tallymark.cli.recount:explain", "Show how one cell follows from its raw files."),
    "freeze": ("tallymark.cli.recount:freeze", "Record the digest of a report's data, rules and cells."),
    "bundle": ("tallymark.cli.recount:bundle", "Pack a report, its raw files and recount.py into one zip."),
    "schema": ("tallymark.cli.schema:schema", "Check the released schemas and lock new ones."),
    "import": ("tallymark.cli.importing:import_", "Turn another tool's result file into evidence."),
    "report": ("tallymark.cli.importing:report", "Start a report spec from evidence."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when called; help texts come from the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the road, not of the alphabet."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command object, imported now; None when there is no such command."""
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command list of ``--help``, without importing a single command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tallymark")
@click.option(
    "--project",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    show_default="working directory",
    help="The project folder: data/, site/, build/.",
)
@click.pass_context
def root(ctx: click.Context, project: Path) -> None:
    """Benchmark pages whose every number can be recounted.

    Exit codes: 0 clean, 1 findings, 2 misuse or a bad spec, 3 undecided, 4 nothing was checked,
    5 unreadable, 70 internal error.
    """
    ctx.obj = project


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with the documented exit code."""
    try:
        result: Any = root.main(args=arguments, prog_name="tallymark", standalone_mode=False)
    except errors.TallymarkError as error:
        click.echo(error.line(), err=True)
        sys.exit(error.exit_code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(errors.MISUSE)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped by the user", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(errors.CLEAN)
    except Exception:  # noqa: BLE001 - the last line of defence: a bug of ours, said as one
        sys.exit(_internal_error())
    sys.exit(result if isinstance(result, int) else errors.CLEAN)


def _internal_error() -> int:
    """Keep the traceback in a file and tell the user where it is: it is our bug, not theirs."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="tallymark-", suffix=".traceback", delete=False, encoding="utf-8"
    ) as report:
        report.write(traceback.format_exc())
    last = traceback.format_exc().strip().splitlines()[-1]
    click.echo(f"tallymark: internal error: {last}. Please report it with {report.name}.", err=True)
    return errors.INTERNAL
