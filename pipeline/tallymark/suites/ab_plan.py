"""The plan of an A/B comparison: a TOML file, checked by its schema, turned into two plans and one order."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from tallymark import schemas
from tallymark.errors import SpecError, UsageError
from tallymark.evidence import documents
from tallymark.suites import catalogue
from tallymark.suites.model import Plan, PlannedRun, Point, SuiteDefinition
from tallymark.suites.plan import Request, points, refuse_out_of_range
from tallymark.suites.settings import parse
from tallymark.suites.shuffle import below, splitmix64

SCHEMA = "ab-plan/1.0"
SUITE = "ab"
INSTALLED = "installed"
Side = Literal["a", "b"]
SIDES: tuple[Side, Side] = ("a", "b")
OTHER: Mapping[Side, Side] = {"a": "b", "b": "a"}


@dataclass(frozen=True, slots=True)
class AbPlan:
    """A checked plan. ``path`` is how messages show its file; a library is None for the installed one."""

    path: str
    file: str
    sha256: str
    name: str
    point: Point
    blocks: int
    warmups: int
    seed: int
    same_library: bool
    libraries: Mapping[Side, Path | None]

    def where(self, key: str) -> str:
        """``file::$.key`` for messages."""
        return f"{self.path}::$.{key}"

    @property
    def order(self) -> str:
        """The side of every counted run: blocks of ``abba`` or ``baab``, as the seed says."""
        values = splitmix64(self.seed)
        return "".join(("abba", "baab")[below(2, values)] for _ in range(self.blocks))

    def of_side(self, side: Side, benchmark_version: str) -> Plan:
        """The runs of one side: two in each block, so that run n of one side is beside run n of the other."""
        chosen = self.point.configuration.with_values(
            {"variant": side, "benchmark_version": benchmark_version}
        )
        point = replace(self.point, configuration=chosen)
        plan = Plan(
            suite=SUITE,
            label=f"{self.name}-{side}",
            seed=self.seed,
            repetitions=2 * self.blocks,
            command=f"tallymark ab {self.file}",
            warmups=tuple(PlannedRun.of(index, index + 1, point) for index in range(self.warmups)),
            runs=tuple(PlannedRun.of(index, index + 1, point) for index in range(2 * self.blocks)),
        )
        refuse_out_of_range(plan)
        return plan


def load(path: Path, project: Path) -> AbPlan:
    """Read and check a plan; the libraries are not looked at yet.

    UsageError: no such file, or a suite or setting that there is not. UnreadableError: it cannot be read.
    SpecError: not TOML, against the schema, or not exactly one configuration.
    """
    shown = documents.shown_path(path, project)
    data = documents.read_bytes(path, shown, follow=True)
    try:
        value = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise SpecError(shown, f"byte {error.start} is not UTF-8", "save the file as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SpecError(shown, f"not TOML: {error}", "correct the file") from None
    for pointer, _, message in schemas.errors(SCHEMA, value):
        raise SpecError(f"{shown}::{pointer}", message, f"write it as {SCHEMA} describes")
    return AbPlan(
        path=shown,
        file=shown if documents.is_inside(path, project) else path.name,
        sha256=hashlib.sha256(data).hexdigest(),
        name=value["name"],
        point=_point(value, shown),
        blocks=value["blocks"],
        warmups=value.get("warmups", 1),
        seed=value["seed"],
        same_library=value.get("same_library", False),
        libraries={side: _library(value[side]["library"], project) for side in SIDES},
    )


def _library(named: str, project: Path) -> Path | None:
    return None if named == INSTALLED else project / named


def _point(value: Mapping[str, Any], shown: str) -> Point:
    """The one configuration of the plan, under the name of this suite."""
    suite = _suite(value["suite"], shown)
    texts = [f"{key}={several}" for key, several in value.get("settings", {}).items()]
    request = Request(suite, preset=value.get("preset"), settings=parse(texts, suite))
    preset = suite.presets.get(request.preset_name)
    if preset is None:
        raise SpecError(
            f"{shown}::$.preset",
            f"suite {value['suite']} has no preset {request.preset_name!r}",
            f"use one of {', '.join(suite.presets)}",
        )
    several = list(points(request, preset))
    if len(several) > 1:
        varied = ", ".join(key for key in {**suite.axes, **preset.axes} if key not in request.settings.values)
        raise SpecError(
            f"{shown}::$.settings",
            f"suite {value['suite']} has {len(several)} configurations there",
            f"an A/B compares one: set {varied}",
        )
    return several[0]


def _suite(name: str, shown: str) -> SuiteDefinition:
    suite = catalogue.named(name)
    if suite.cases:
        raise UsageError(
            f"{shown}::$.suite",
            f"suite {name} has cases, and an A/B compares one configuration",
            "name suite sweep and set the keys of the case",
        )
    return replace(suite, name=SUITE, base=suite.base.with_values({"suite": SUITE}))
