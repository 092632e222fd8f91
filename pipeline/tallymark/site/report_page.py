"""The page of one report as ready text, in the order in which a careful reader asks.

Status, claim and scope, table, the two commands, charts, ledger, all runs, manifest, downloads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallymark.printable import printable as visible
from tallymark.site import commands
from tallymark.site.determined_view import Own, determined_view
from tallymark.site.downloads import Download
from tallymark.site.figures import Figure, Panels
from tallymark.site.labels import machine_words
from tallymark.site.manifest_view import ManifestView, manifest_view
from tallymark.site.prose import sentence
from tallymark.site.report_data import ReportData
from tallymark.site.runs_view import LedgerLine, RunsView, constants_view, ledger_view, runs_view
from tallymark.site.shown import Sentence, Shown, sourced, value_text, words
from tallymark.site.simulated_view import SimulatedView, is_simulated, simulated_view
from tallymark.site.status import Status, status_lines
from tallymark.site.svg import Chart, chart
from tallymark.site.table_view import TableView, table_view
from tallymark.site.templating import front_matter_title, render

_PANEL_WIDTHS = {1: 1020, 2: 540}
_SMALL_PANEL = 360
_VERDICTS = {True: ("holds", "good"), False: ("fails", "bad"), None: ("cannot tell", "open")}


@dataclass(frozen=True, slots=True)
class Badge:
    """A short mark in the status line; ``tone`` is good, bad, open or plain."""

    text: Sentence
    tone: str


@dataclass(frozen=True, slots=True)
class ClaimView:
    """One claim: its sentence with the numbers from the data, and what its test says.

    ``said`` refers to the whole sentence, words too; ``source`` to the verdict.
    """

    id: str
    said: str
    text: Sentence
    source: str
    verdict: str
    tone: str


@dataclass(frozen=True, slots=True)
class ScopePart:
    """One list of the scope: measured, not measured, must not be concluded."""

    title: str
    tone: str
    items: tuple[tuple[str, Sentence], ...]


@dataclass(frozen=True, slots=True)
class FigureView:
    """A figure on the page: words, and the static picture."""

    id: str
    title: Sentence
    caption: Sentence
    svg: Chart


@dataclass(frozen=True, slots=True)
class PanelsView:
    """Figures side by side; ``panels`` names how many fit in a row."""

    title: Shown
    panels: str
    figures: tuple[FigureView, ...]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """Everything on a report page but its table, runs and manifest, which are views of their own."""

    engine_title: str
    title: Shown
    badges: tuple[Badge, ...]
    status: tuple[Sentence, ...]
    claims: tuple[ClaimView, ...]
    scope: tuple[ScopePart, ...]
    completion: tuple[str, Sentence] | None
    simulated: SimulatedView | None
    warnings: tuple[Sentence, ...]
    notes: tuple[Sentence, ...]
    timing: str
    determined: tuple[Own, ...]
    constants: tuple[tuple[str, Shown], ...]
    recount: Shown
    rerun: Shown
    rerun_cost: Sentence
    charts: tuple[PanelsView, ...]
    charts_script: str
    ledger: tuple[LedgerLine, ...]
    downloads: tuple[Download, ...]


def report_page(
    report: ReportData,
    status: Status,
    panels: Sequence[Panels],
    jq_lines: Mapping[str, str],
    downloads: tuple[Download, ...],
    timing: str = "",
) -> str:
    """The Markdown file of a report's page. ``timing``: where the timing map is, for runs of the runtime."""
    table: TableView = table_view(report, jq_lines)
    runs: RunsView = runs_view(report)
    manifest: ManifestView = manifest_view(report)
    # what the data themselves demand to be said: with numbers (more workers than cores) before the table
    notes = [sentence(note) for note in report.value["prose"]["notes"]]
    page = ReportPage(
        engine_title=front_matter_title(report.value["title"]),
        title=Shown(report.value["title"], f"spec:{report.name}/$.title"),
        badges=_badges(report),
        status=status_lines(report, status),
        claims=claims(report),
        scope=_scope(report),
        completion=_completion(report),
        simulated=simulated_view(report),
        warnings=tuple(note for note in notes if _warns(note)),
        notes=tuple(note for note in notes if not _warns(note)),
        timing=timing,
        determined=determined_view(report),
        constants=constants_view(report),
        recount=Shown(commands.recount_command(report), f"command:{report.name}/recount"),
        rerun=Shown(commands.rerun_command(report), f"command:{report.name}/rerun"),
        rerun_cost=_rerun_cost(report),
        charts=tuple(_panels(entry) for entry in panels),
        charts_script=f"{report.name}.charts.js",
        ledger=ledger_view(report),
        downloads=downloads,
    )
    return render("report.md.j2", page=page, table=table, runs=runs, manifest=manifest)


def claims(report: ReportData) -> tuple[ClaimView, ...]:
    """The claims of a report with their verdicts."""
    name = report.name
    return tuple(
        ClaimView(
            claim["id"],
            f"said:{name}/$.claims[{at}].text",
            sentence(said),
            f"claim:{name}/{claim['id']}",
            *_VERDICTS[claim["holds"]],
        )
        for at, (claim, said) in enumerate(
            zip(report.value["claims"], report.value["prose"]["claims"], strict=True)
        )
    )


def claims_badge(report: ReportData) -> Badge | None:
    """How many of the tested claims hold; None when nothing is claimed."""
    made = report.value["claims"]
    if not made:
        return None
    held = sum(claim["holds"] is True for claim in made)
    text = (
        Shown(str(held), f"claims:{report.name}/holds"),
        words(" of "),
        Shown(str(len(made)), f"claims:{report.name}/total"),
        words(" claims hold"),
    )
    broken = any(claim["holds"] is False for claim in made)
    return Badge(text, "bad" if broken else "good" if held == len(made) else "open")


def age_badge(report: ReportData) -> Badge | None:
    """Current or historical: whether today's sources would give the build that was measured."""
    marks = {file.current for file in report.files}
    if False in marks:
        return Badge((words("historical: measured with other sources than today's"),), "open")
    return Badge((words("current: measured with today's sources"),), "good") if marks == {True} else None


def _badges(report: ReportData) -> tuple[Badge, ...]:
    version = Badge(
        (words("version "), Shown(str(report.value["version"]), f"spec:{report.name}/$.version")), "plain"
    )
    found = (claims_badge(report), age_badge(report))
    return (*(badge for badge in found if badge is not None), version)


def _scope(report: ReportData) -> tuple[ScopePart, ...]:
    scope: Mapping[str, Any] = report.value["prose"]["scope"]
    base = f"said:{report.name}/$.scope"
    parts = [
        ScopePart(
            title,
            tone,
            tuple((f"{base}.{name}[{at}]", sentence(item)) for at, item in enumerate(scope.get(name, ()))),
        )
        for name, title, tone in (
            ("measured", "Measured", "yes"),
            ("not_measured", "Not measured", "no"),
            ("must_not_conclude", "Must not be concluded", "no"),
        )
    ]
    return tuple(part for part in parts if part.items)


def _completion(report: ReportData) -> tuple[str, Sentence] | None:
    """What one completed piece of work is, with the reference of the whole sentence; None when not said."""
    scope: Mapping[str, Any] = report.value["prose"]["scope"]
    if "completion" not in scope:
        return None
    return f"said:{report.name}/$.scope.completion", sentence(scope["completion"])


def _warns(note: Sentence) -> bool:
    """Whether a note holds a number of the data; titles that it quotes from the spec only name columns."""
    return any(part.source and not part.source.startswith("spec:") for part in note)


def _rerun_cost(report: ReportData) -> Sentence:
    """What the second command does, what it takes, and on which machine it took that."""
    imported = next((file for file in report.files if file.document.kind == "imported-execution"), None)
    if imported is not None:
        source: Any = imported.document.value["source"]
        tool = sourced(visible(source["format"]), f"raw:{imported.sha256}/$.source.format")
        return words("Measured by "), tool, words(" and imported; this imports the file again.")
    minutes = commands.minutes(report)
    if is_simulated(report):
        return (
            words("Takes about "),
            Shown(str(minutes), f"duration:{report.name}/minutes"),
            words(" minute" if minutes == 1 else " minutes"),
            words(". A seed gives the same runs, byte for byte, on every machine."),
        )
    parts: list[Shown] = [
        words("Takes about "),
        Shown(str(minutes), f"duration:{report.name}/minutes"),
        words(" minute" if minutes == 1 else " minutes"),
    ]
    peak = commands.peak_mib(report)
    if peak is not None:
        parts += [words(" and "), Shown(peak, f"memory:{report.name}/mib"), words(" MiB of memory a run")]
    machine = report.value["constants"].get("machine")
    parts += [words(" on the machine that was measured ("), *machine_words(report, machine)]
    if machine and machine.get("os_build"):
        os_build = f"constant:{report.name}/machine/os_build"
        parts += [words("; "), sourced(value_text(machine["os_build"]), os_build)]
    return (*parts, words("). Other machines give other numbers; the claims are what should hold again."))


def _panels(entry: Panels) -> PanelsView:
    count = len(entry.figures)
    width = _PANEL_WIDTHS.get(count, _SMALL_PANEL)
    if count > 2 and not entry.figures[0].swap:
        count, width = 2, _PANEL_WIDTHS[2]
    return PanelsView(
        entry.title, str(min(count, 3)), tuple(_figure(figure, width) for figure in entry.figures)
    )


def _figure(figure: Figure, width: int) -> FigureView:
    return FigureView(figure.id, figure.title, figure.caption, chart(figure, width))
