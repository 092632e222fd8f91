"""From what was asked to every single run in its order."""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tallymark import schemas
from tallymark.errors import UsageError
from tallymark.suites.dependent import consistent
from tallymark.suites.model import (
    COMPLETED,
    DEFAULT_PRESET,
    KEYS,
    SCHEMA,
    Plan,
    PlannedRun,
    Point,
    Preset,
    Scalar,
    Settings,
    SuiteDefinition,
)
from tallymark.suites.settings import as_options
from tallymark.suites.shuffle import shuffled, splitmix64

LENIENT = "smoke"  # the preset that judges correctness alone, on however slow a machine
LARGEST_SEED = 2**53 - 1
_LABEL = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller wants of a suite; ``None`` takes the suite's or the preset's own value."""

    suite: SuiteDefinition
    preset: str | None = None
    settings: Settings = field(default_factory=Settings.none)
    label: str | None = None
    repetitions: int | None = None
    seed: int | None = None

    @property
    def preset_name(self) -> str:
        """The preset that counts: as asked, else quick."""
        return DEFAULT_PRESET if self.preset is None else self.preset

    @property
    def label_name(self) -> str:
        """The label that the document gets: as asked, else the preset's name."""
        return self.preset_name if self.label is None else self.label

    @property
    def decides_runs(self) -> bool:
        """Whether anything was asked for that decides which runs are made (a label and a seed do not)."""
        return self.preset is not None or bool(self.settings.values) or self.repetitions is not None


def build(request: Request) -> Plan:
    """Every run of the suite in random order, decided by the seed (drawn now when none was asked for).

    Each repetition is a block that holds every configuration once, in an order of its own: drift of the
    machine over the suite then touches all configurations alike.
    UsageError: a label, seed, preset or value out of its range.
    """
    preset = request.suite.presets.get(request.preset_name)
    if preset is None:
        known = ", ".join(request.suite.presets)
        raise UsageError(f"--preset {request.preset_name}", "there is no such preset", f"use one of {known}")
    label = check_label(request.label_name)
    seed = secrets.randbelow(LARGEST_SEED + 1) if request.seed is None else request.seed
    if not 0 <= seed <= LARGEST_SEED:
        raise UsageError(f"--seed {seed}", "a seed is a whole number from 0 to 2^53 - 1", "choose another")
    repetitions = preset.repetitions if request.repetitions is None else request.repetitions
    if not 1 <= repetitions <= 1000:
        raise UsageError(f"--repetitions {repetitions}", "outside 1 … 1000", "choose another number")
    runs = tuple(_ordered(list(points(request, preset)), repetitions, seed))
    plan = Plan(
        suite=request.suite.name,
        label=label,
        seed=seed,
        repetitions=repetitions,
        command=command(request),
        warmups=tuple(
            replace(runs[0], index=index, repetition=index + 1) for index in range(request.suite.warmup_runs)
        ),
        runs=runs,
    )
    refuse_out_of_range(plan)
    return plan


def check_label(label: str) -> str:
    """The label itself. UsageError: it would not make a plain file name."""
    if not _LABEL.match(label):
        raise UsageError(
            f"--label {label}",
            "not a label",
            "start with a-z or 0-9 and go on with at most 63 of a-z, 0-9, '.', '_' and '-'",
        )
    if label.endswith(".profile"):
        raise UsageError(f"--label {label}", "names that end so are those of profiles", "choose another")
    return label


def command(request: Request) -> str:
    """The call that asks for the same again, in one spelling and without any path."""
    words = [f"tallymark run {request.suite.name}"]
    if request.preset_name != DEFAULT_PRESET:
        words.append(f"--preset {request.preset_name}")
    words += as_options(request.settings)
    if request.repetitions is not None:
        words.append(f"--repetitions {request.repetitions}")
    if request.seed is not None:
        words.append(f"--seed {request.seed}")
    if request.label_name != request.preset_name:
        words.append(f"--label {request.label_name}")
    return " ".join(words)


def points(request: Request, preset: Preset) -> Iterator[Point]:
    """The product of the axes in each case, over the fixture, the preset and the single settings."""
    suite, values = request.suite, request.settings.values
    axes = _axes(suite, preset, values)
    single: dict[str, Scalar] = {key: several[0] for key, several in values.items() if key not in axes}
    fixture = suite.base.with_values({"tasks": preset.tasks, **preset.values, **single})
    varied = [key for key, several in axes.items() if len(several) > 1]
    for case in suite.cases or (None,):
        decided = {} if case is None else case.of(fixture.tasks)
        for point in itertools.product(*axes.values()):
            chosen = fixture.with_values({**decided, **dict(zip(axes, point, strict=True))})
            made = consistent(chosen, {*single, *axes, *decided}, varied)
            meant = Point(made) if case is None else Point(made, case.expected, case.deadline_ms)
            lenient = suite.steps or request.preset_name == LENIENT
            yield replace(meant, expected=_expected(meant)) if lenient else meant


def _expected(meant: Point) -> tuple[str, ...]:
    """A suite that steps up a rate finds out where it is too much; and smoke has no threshold on speed."""
    can_overload = meant.expected == COMPLETED and meant.configuration.rate_per_s
    return (*COMPLETED, "overloaded") if can_overload else meant.expected


def _axes(
    suite: SuiteDefinition, preset: Preset, values: Mapping[str, tuple[Scalar, ...]]
) -> Mapping[str, tuple[Scalar, ...]]:
    """The keys that make the product: the user's own factors where the suite takes them, else the suite's.

    Factors stand in the order of the run record, so that the order of the options changes no plan.
    """
    factors = {key: values[key] for key in KEYS if len(values.get(key, ())) > 1}
    if suite.free_factors and factors:
        return factors
    return {key: values.get(key, several) for key, several in {**suite.axes, **preset.axes}.items()}


def _ordered(several: list[Point], repetitions: int, seed: int) -> Iterator[PlannedRun]:
    values = splitmix64(seed)
    index = itertools.count()
    for repetition in range(1, repetitions + 1):
        for point in shuffled(several, values):
            yield PlannedRun.of(next(index), repetition, point)


def refuse_out_of_range(plan: Plan) -> None:
    """UsageError when the schema of the document would refuse a planned value: said before a run is made."""
    document = {"schema": SCHEMA, "execution": {"plan": [run.to_json() for run in plan.runs]}}
    for pointer, _, message in schemas.errors(SCHEMA, document):
        start, found, key = pointer.partition(".configuration.")
        if found and start.startswith("$.execution.plan["):
            index = int(start.removeprefix("$.execution.plan[").rstrip("]"))
            value = plan.runs[index].configuration.to_json().get(key)
            raise UsageError(f"--set {key}={value}", message, "choose a value inside the range")
