"""``tallymark run`` and ``tallymark recover``: options in, the path of a document out."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from tallymark import errors
from tallymark.cli.talk import talk
from tallymark.errors import UsageError
from tallymark.evidence.documents import shown_path
from tallymark.suites import catalogue, measure, profile
from tallymark.suites import recover as recovery
from tallymark.suites.plan import Request
from tallymark.suites.progress import reporter
from tallymark.suites.settings import SETTABLE, parse
from tallymark.suites.written import Written, errors_of, shown

SHOWN_FUNCTIONS = 12
RUNTIME_OBJECT = "_runtime."


@click.command(
    epilog="Keys of --set: "
    + ", ".join(SETTABLE)
    + ". Exit codes: 0 every run ended as it was meant to (in suite faults: failed), 1 a run did not or the"
    " document has findings (it is written all the same), 2 misuse, 130 stopped by the user.",
    help="Run a benchmark SUITE and write its evidence; print the path of the document."
    + "\n\n\b\nSuites:\n"
    + "\n".join(f"  {name:<10} {asks}" for name, asks in catalogue.asks().items()),
)
@click.argument("suite")
@click.option("--preset", help="How large: smoke, quick (the default) or full; stability has nightly too.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE[,VALUE]", help="One configuration key; repeatable."
)
@click.option("--label", help="Name of the document; the preset unless said otherwise.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the document; data/SUITE unless said otherwise (smoke: build/smoke, made anew).",
)
@click.option("--resume", is_flag=True, help="Continue a suite that was killed or stopped.")
@click.option("--seed", type=int, help="Seed of the order of the runs; drawn and recorded unless given.")
@click.option("--repetitions", type=int, help="Counted runs of each configuration.")
@click.option(
    "--profile",
    "profiled",
    is_flag=True,
    help="Afterwards profile the first configuration into LABEL.profile.json: untimed, by perf or callgrind.",
)
@click.pass_obj
def run(
    project: Path,
    suite: str,
    preset: str | None,
    settings: tuple[str, ...],
    label: str | None,
    out: Path | None,
    resume: bool,
    seed: int | None,
    repetitions: int | None,
    profiled: bool,
) -> int:
    """What ``help`` says; a suite's own module says more."""
    if suite == catalogue.SMOKE:
        if any(value is not None for value in (label, seed, repetitions)) or settings or resume or profiled:
            raise UsageError("run smoke", "takes no option but --out", "run a suite itself to choose more")
        if preset not in (None, catalogue.SMOKE):
            raise UsageError(f"--preset {preset}", "the smoke suite has one size", "leave --preset out")
        return _smoke(project, out)
    definition = catalogue.named(suite)
    request = Request(
        suite=definition,
        preset=preset,
        settings=parse(settings, definition),
        label=label,
        repetitions=repetitions,
        seed=seed,
    )
    directory = project / "data" / suite if out is None else out
    if not profiled:
        return told(measure.run(request, directory, reporter(), resume=resume))
    profiler = profile.Profiler.of_this_machine()  # before an hour of runs
    measure.refuse_existing(profile.target(directory, request.label_name))
    written = measure.run(request, directory, reporter(), resume=resume)
    code = told(written)
    talk(f"profiling one more run with {profiler.tool.name}, untimed")
    return max(code, told_profile(profile.add(written.path, profiler)))


def _smoke(project: Path, out: Path | None) -> int:
    """Smoke runs are no evidence to keep: without --out they go into a folder that each call makes anew."""
    directory = project / "build" / "smoke" if out is None else out
    if out is None:
        shutil.rmtree(directory, ignore_errors=True)
    return max(told(written) for written in catalogue.run_smoke(directory, reporter()))


@click.command()
@click.argument("journal", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the document; beside the journal unless said otherwise.",
)
def recover(journal: Path, out: Path | None) -> int:
    """Turn the JOURNAL of a killed suite into a document; print its path.

    The journal stays, so that `tallymark run … --resume` can still complete the plan. A run that did not
    complete is named on standard error; that is what this command is for, so it is no failure.

    Exit codes: 0 written, 1 the document has findings, 2 misuse (nothing was measured, another document is
    there, the suite still runs), 5 not a journal.
    """
    written = recovery.recover(journal, out)
    told(written)
    return errors.FINDINGS if written.refused else errors.CLEAN


def told_profile(made: profile.Profiled) -> int:
    """Print the path as the result, and as talk where it fell and the hottest functions of the runtime."""
    shares = [f"{name} {100 * count / made.total:.1f} %" for name, count in made.objects.most_common(4)]
    talk(f"profile: {made.total} {made.counted} by {made.tool}: {', '.join(shares)}")
    ours = [one for one in made.functions if one.object.startswith(RUNTIME_OBJECT)]
    if not any(one.self_count for one in ours):
        talk("profile: nothing of it fell into the runtime; choose a larger preset")
    for one in ours[:SHOWN_FUNCTIONS]:
        whole = "" if one.total_percent is None else f"{one.total_percent:5.1f} % with what it calls"
        talk(f"profile: {100 * one.self_count / made.total:5.1f} % {one.name} {whole}".rstrip())
    for finding in made.findings:
        talk(shown(finding))
    click.echo(shown_path(made.path))
    return errors.FINDINGS if errors_of(made.findings) else errors.CLEAN


def told(written: Written) -> int:
    """Print the path as the result, and everything a user must hear as talk."""
    for line in written.unexpected:
        talk(f"{shown_path(written.path)}: {line}")
    for finding in written.findings:
        talk(shown(finding))
    click.echo(shown_path(written.path))
    return errors.FINDINGS if written.unexpected or written.refused else errors.CLEAN
