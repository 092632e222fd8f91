"""The command line: a thin table of commands, and errors turned into one line and an exit code.

Commands are imported only when they are called, so that ``tallymark check`` never pays for pandas.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import click

from tallymark import __version__, errors
from tallymark.cli import streams
from tallymark.cli.talk import talk

STOPPED = 130

# command name -> "module:attribute" of the click command, and the line shown by --help
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("tallymark.cli.demo:demo", "Run, check, tabulate, build and recount a small suite here."),
    "run": ("tallymark.cli.run:run", "Run a benchmark suite and write its evidence."),
    "ab": ("tallymark.cli.ab:ab", "Run two builds of the runtime alternately, for a comparison."),
    "load": ("tallymark.cli.load:load", "Load tests for agent systems, in virtual time."),
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


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="tallymark")
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    show_default="working directory",
    help="The project folder: data/, site/, build/.",
)
@click.pass_context
def root(ctx: click.Context, project: Path) -> None:
    """Benchmark pages whose every number can be recounted.

    Exit codes: 0 clean, 1 findings, 2 misuse or a bad spec, 3 undecided, 4 nothing was checked,
    5 unreadable, 70 internal error, 130 stopped by the user, 141 the reader of the output went away.
    """
    ctx.obj = project
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with the documented exit code."""
    streams.prepare()
    try:
        code = _exit_code(arguments)
    except BrokenPipeError:
        code = streams.CUT_OFF
    sys.exit(streams.finished(code))


def _exit_code(arguments: list[str] | None) -> int:
    try:
        result: Any = root.main(args=arguments, prog_name="tallymark", standalone_mode=False)
    except errors.TallymarkError as error:
        talk(error.line())
        return error.exit_code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        _show(error)
        return errors.MISUSE
    except (click.Abort, KeyboardInterrupt):
        talk("stopped by the user")
        return STOPPED
    except SystemExit:
        # click leaves by itself in two cases: shell completion, and a pipe that nobody reads any more
        if "_TALLYMARK_COMPLETE" in os.environ:
            raise
        raise BrokenPipeError from None
    except BrokenPipeError:
        raise
    except OSError as error:
        streams.tell(error)
        return errors.MISUSE
    except Exception:  # noqa: BLE001 - the last line of defence: a bug of ours, said as one
        return _internal_error()
    return result if isinstance(result, int) else errors.CLEAN


def _show(error: click.ClickException) -> None:
    """Click's own words, with whatever the user typed made harmless."""
    said = io.StringIO()
    error.show(said)
    for line in said.getvalue().rstrip("\n").split("\n"):
        talk(line)


def _internal_error() -> int:
    """Keep the traceback in a file and tell the user where it is: it is our bug, not theirs."""
    text = traceback.format_exc()
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="tallymark-",
            suffix=".traceback",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as report:
            report.write(text)
        place = report.name
    except OSError:
        for line in text.splitlines():
            talk(line)
        place = "the lines above"
    said = "".join(traceback.format_exception_only(*sys.exc_info()[:2])).strip()
    talk(f"tallymark: internal error: {said}. Please report it with {place}.")
    return errors.INTERNAL
