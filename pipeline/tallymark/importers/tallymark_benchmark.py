"""The JSON of ``benchmarks/*.py``, format ``tallymark-benchmark/1``: one process is one run.

```
{ "format": "tallymark-benchmark/1",
  FIGURE: {"median", "low", "high", "quantity", "case", "over": null or a case or several,
           "better": "higher" or "lower", …},                                       # any number of them
  "started_at": "2026-11-29T09:00:00Z", "finished_at": …, "seed": integer,
  "workload": {name: integer, text or boolean},  "compiler": the same,  "tree": the same or null,
  "machine": {"cpu_model", "cores", "memory_bytes", "kernel", "architecture"},       # null: could not be read
  "rounds": [ {"order": [case, …],
               "runs": {case: [{"tasks", "elapsed_ns", "cpu_ns", "voluntary_switches",
                                "involuntary_switches", "backlog_bytes", "drained_bytes",
                                "elapsed_s", "cpu_s", "tasks_per_s", "queued_bytes",
                                "memory_bytes", "latency_p50_ns", "latency_p99_ns", …}, …]}, …}, … ] }
```

A case is the benchmark, and what is fixed for all of them (workload, compiler, tree) its parameters. In a
round, ``order`` names the case of each process as they ran. Bytes and latencies of 0 were not measured by
that case, and those of the last line may be missing. The four numbers before them follow from the others, and
so do those of ``_per_task``. A figure is the quantity of one case over that of another in each round, or over
the best of several; a case with several processes stands there with their median. All of this is computed
again, and a file in which a number does not follow is refused. A figure may be of any number of a run, though
only these become evidence. ``machine`` is what the measuring program read.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from tallymark.evidence.strict_json import JsonValue
from tallymark.importers.foreign import Entry, shown
from tallymark.importers.interface import Imported, ImportedRun, Loss, Measured, Reported
from tallymark.stats.order import median

_FORMAT = re.compile(r"tallymark-benchmark/([0-9]{1,4})")
_VERSION = "1"
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_NAME = re.compile(r"[\w-]{1,64}")
_LONGEST_TEXT, _MOST_PARAMETERS = 2000, 32
_LONGEST_NS = 10**16  # 116 days
_RELATIVE = 1e-9
_LARGEST = 1e15
# key of the file → key of the manifest's machine
_MACHINE = {
    "cpu_model": "cpu_model",
    "cores": "cores",
    "memory_bytes": "memory_bytes",
    "kernel": "os_build",
    "architecture": "platform",
}
_DERIVED = ("elapsed_s", "cpu_s", "tasks_per_s", "queued_bytes")
_PER_TASK = ("elapsed_ns_per_task", "cpu_ns_per_task", "switches_per_1000", "memory_per_task")
_OPTIONAL = ("memory_bytes", "latency_p50_ns", "latency_p99_ns")
_AGAIN = "run the benchmark again and import its file unchanged"
Values: TypeAlias = Mapping[str, int | float]
Round: TypeAlias = Sequence[tuple[str, Values]]
"""The case and the values of each process, in the order in which they ran."""


class TallymarkBenchmark:
    """The importer of the files that the programs in ``benchmarks/`` write."""

    name = "benchmark"
    made_by = "make benchmark"

    def detect(self, data: JsonValue) -> bool:
        """An object that names the format, whatever its version."""
        text = data.get("format") if isinstance(data, dict) else None
        return isinstance(text, str) and _FORMAT.fullmatch(text) is not None

    def read(self, data: JsonValue, name: str) -> Imported:
        """All runs in the order in which they ran. Raises FindingsError, see Importer.read."""
        top = Entry(data, name, "$")
        if top.text("format") != f"tallymark-benchmark/{_VERSION}":
            raise top.refusal("format", "is a version that this importer does not know", "update Tallymark")
        parameters, places = _parameters(top)
        measured = _measured(top)
        loss: dict[Loss, None] = {}
        rounds: list[Round] = []
        for number, value in enumerate(top.array("rounds")):
            processes, lost = _round(Entry(value, name, f"$.rounds[{number}]"))
            if rounds and _cases(rounds[0]) != _cases(processes):
                raise top.refusal("rounds", "has not the processes of the first round", _AGAIN, number)
            rounds.append(processes)
            loss.update(dict.fromkeys(lost))
        if not rounds or not rounds[0]:
            raise top.refusal("rounds", "is empty: nothing was measured", _AGAIN)
        _verify_figures(top, rounds)
        runs = tuple(_runs(rounds, parameters))
        series = tuple(_series(rounds[0], parameters, places))
        return Imported(self.name, _VERSION, runs, series, (*_whole_loss(top), *loss), measured)


def _parameters(top: Entry) -> tuple[dict[str, str], dict[str, str]]:
    """(name → text, name → place in the file) of everything that is fixed over the whole file."""
    found: dict[str, str] = {}
    places: dict[str, str] = {}
    for group in ("workload", "compiler", "tree"):
        if group == "tree" and not top.has(group):
            continue
        entry = Entry(top.take(group), top.file, top.at(group))
        for key in entry.unread():
            text = _text(entry, key)
            if text is None:
                continue
            if key in found:
                raise entry.refusal(key, "is in two of workload, compiler and tree", _AGAIN)
            found[key], places[key] = text, entry.at(key)
    if len(found) > _MOST_PARAMETERS:
        raise top.refusal(
            "workload", f"with compiler and tree has more than {_MOST_PARAMETERS} values", _AGAIN
        )
    return found, places


def _text(entry: Entry, key: str) -> str | None:
    """One parameter as text; None for a null. Raises FindingsError."""
    value = entry.take(key)
    if not _NAME.fullmatch(key):
        raise entry.refusal(key, "is no name for a parameter (letters, digits, _ and -)", _AGAIN)
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str) or not value.isprintable() or len(value) > _LONGEST_TEXT:
        raise entry.refusal(key, "is no integer, boolean or short printable text", _AGAIN)
    return value


def _measured(top: Entry) -> Measured:
    """When and on which machine, as the measuring program recorded it."""
    entry = Entry(top.take("machine"), top.file, top.at("machine"))
    machine: dict[str, JsonValue] = {}
    for key, name in _MACHINE.items():
        most = {"cores": 65536, "memory_bytes": 2**53 - 1}.get(name)
        known = entry.has(key)
        machine[name] = (_line(entry, key) if most is None else entry.whole(key, 1, most)) if known else None
    return Measured(
        machine=machine,
        started_at=_time(top, "started_at"),
        finished_at=_time(top, "finished_at"),
        seed=top.whole("seed"),
    )


def _line(entry: Entry, key: str) -> str:
    text = entry.text(key)
    if not text or not text.isprintable() or len(text) > 200:
        raise entry.refusal(key, "is no printable text of 1 to 200 characters", _AGAIN)
    return text


def _time(top: Entry, key: str) -> str:
    text = top.text(key)
    try:
        if not _TIME.fullmatch(text):
            raise ValueError
        datetime.fromisoformat(text)
    except ValueError:
        raise top.refusal(key, "is no time such as 2026-11-29T09:00:00Z", _AGAIN) from None
    return text


def _round(entry: Entry) -> tuple[Round, list[Loss]]:
    """The processes of a round in the order in which they ran, and what of them is not carried over."""
    runs = Entry(entry.take("runs"), entry.file, entry.at("runs"))
    loss: dict[Loss, None] = {}
    left: dict[str, list[Values]] = {}
    for case in runs.unread():
        if not case.strip() or not case.isprintable() or len(case) > _LONGEST_TEXT:
            raise runs.refusal(None, f"the case {shown(case)} has no printable name", _AGAIN)
        left[case] = []
        for at, value in enumerate(runs.array(case)):
            one = Entry(value, entry.file, f"{runs.at(case)}[{at}]")
            left[case].append(_values(one))
            reason = "is measured by the benchmark and no measure of imported evidence"
            loss.update((Loss("$.rounds[*].runs", f"{shown(key)} {reason}"), None) for key in one.unread())
    processes: list[tuple[str, Values]] = []
    for at, case_ in enumerate(entry.array("order")):
        if not isinstance(case_, str) or not left.get(case_):
            raise entry.refusal("order", "names a process that is not under runs", _AGAIN, at)
        processes.append((case_, left[case_].pop(0)))
    if any(left.values()):
        raise entry.refusal("order", "does not name every process under runs", _AGAIN)
    loss.update((Loss("$.rounds[*]", f"{shown(key)} is not carried over"), None) for key in entry.unread())
    return processes, list(loss)


def _cases(processes: Round) -> Counter[str]:
    """How often each case ran in a round."""
    return Counter(case for case, _ in processes)


def _values(entry: Entry) -> Values:
    """The numbers of one case of one round; the derived ones must follow from the others."""
    values: dict[str, int | float] = {
        "tasks": entry.whole("tasks", 1),
        "elapsed_ns": entry.whole("elapsed_ns", 1, _LONGEST_NS),
        "cpu_ns": entry.whole("cpu_ns", 0, _LONGEST_NS),
    }
    for key in ("voluntary_switches", "involuntary_switches", "backlog_bytes", "drained_bytes"):
        values[key] = entry.whole(key)
    values["elapsed_s"] = values["elapsed_ns"] / 1e9
    values["cpu_s"] = values["cpu_ns"] / 1e9
    values["tasks_per_s"] = values["tasks"] / values["elapsed_s"]
    values["queued_bytes"] = max(values["backlog_bytes"], values["drained_bytes"]) / values["tasks"]
    for key in _OPTIONAL:
        values[key] = entry.whole(key) if entry.has(key) else 0
    values["elapsed_ns_per_task"] = values["elapsed_ns"] / values["tasks"]
    values["cpu_ns_per_task"] = values["cpu_ns"] / values["tasks"]
    values["switches_per_1000"] = values["voluntary_switches"] * 1000 / values["tasks"]
    values["memory_per_task"] = values["memory_bytes"] / values["tasks"]
    for key in (*_DERIVED, *(key for key in _PER_TASK if entry.has(key))):
        written = entry.number(key)
        if not _agree(written, values[key]):
            problem = f"does not follow from the other values, which give {values[key]!r}"
            raise entry.refusal(key, problem, _AGAIN)
        values[key] = written
    return values | _others(entry)


def _others(entry: Entry) -> dict[str, int | float]:
    """Numbers that only this benchmark has: a figure may be of them."""
    found = {key: entry.peek(key) for key in entry.unread()}
    return {
        key: value
        for key, value in found.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LARGEST
    }


def _runs(rounds: Sequence[Round], parameters: Mapping[str, str]) -> Iterator[ImportedRun]:
    """One run for each process; repetitions are counted in each case."""
    repetitions: Counter[str] = Counter()
    for number, processes in enumerate(rounds, start=1):
        for case, values in processes:
            repetitions[case] += 1
            yield ImportedRun(
                benchmark=case,
                parameters=parameters,
                repetition=repetitions[case],
                round=number,
                outcome="completed",
                elapsed_s=values["elapsed_s"],
                exit_code=None,
                exit_code_recorded=False,
                memory_bytes=int(values["memory_bytes"]) or None,
                cpu_s=values["cpu_s"],
                operations=int(values["tasks"]),
                voluntary_switches=int(values["voluntary_switches"]),
                involuntary_switches=int(values["involuntary_switches"]),
                queued_bytes=int(values["backlog_bytes"]) or None,
                drained_bytes=int(values["drained_bytes"]) or None,
                latency_p50_s=values["latency_p50_ns"] / 1e9 or None,
                latency_p99_s=values["latency_p99_ns"] / 1e9 or None,
            )


def _series(first: Round, parameters: Mapping[str, str], places: Mapping[str, str]) -> Iterator[Reported]:
    """The name of each series, where the first round names it; the benchmark reports no mean of its own."""
    found = {case: at for at, (case, _) in reversed(list(enumerate(first)))}
    for case, at in found.items():
        pointer = f"$.rounds[0].order[{at}]"
        yield Reported(pointer=pointer, benchmark=case, parameters=parameters, places=places)


def _verify_figures(top: Entry, rounds: Sequence[Round]) -> None:
    """Compute every figure of the file again from its rounds. Raises FindingsError."""
    for key in top.unread():
        value = top.peek(key)
        if not isinstance(value, dict) or not {"median", "low", "high"} <= set(value):
            continue
        figure = Entry(top.take(key), top.file, top.at(key))
        found = [_ratio(figure, processes) for processes in rounds]
        for name, computed in (("median", median(found)), ("low", min(found)), ("high", max(found))):
            if not _agree(figure.number(name), computed):
                problem = f"is not the {name} over the rounds, which is {computed!r}"
                raise figure.refusal(name, problem, _AGAIN)


def _ratio(figure: Entry, processes: Round) -> int | float:
    """The quantity of the figure's case in one round, over that of the other case, or of the best one."""
    above = _middle(figure, "case", figure.text("case"), processes)
    if not figure.has("over"):
        return above
    below = _best(figure, processes)
    if below == 0:
        raise figure.refusal("over", "divides by 0", _AGAIN)
    return above / below


def _best(figure: Entry, processes: Round) -> int | float:
    """The quantity of the case that the figure is over; of several, the best of the round."""
    over = figure.peek("over")
    if not isinstance(over, list):
        return _middle(figure, "over", figure.text("over"), processes)
    better = figure.text("better")
    if better not in ("higher", "lower"):
        raise figure.refusal("better", "is neither higher nor lower", _AGAIN)
    names = [name for name in figure.array("over") if isinstance(name, str)]
    if not names or len(names) < len(over):
        raise figure.refusal("over", "is no list of cases", _AGAIN)
    found = [_middle(figure, "over", name, processes) for name in names]
    return max(found) if better == "higher" else min(found)


def _middle(figure: Entry, key: str, named: str, processes: Round) -> int | float:
    """The median of a quantity over the processes of a case."""
    quantity = figure.text("quantity")
    found = [values[quantity] for case, values in processes if case == named and quantity in values]
    if not found:
        raise figure.refusal(key, f"{shown(named)} has no {shown(quantity)} in a round", _AGAIN)
    return median(found)


def _agree(reported: float, computed: float) -> bool:
    return math.isclose(reported, computed, rel_tol=_RELATIVE, abs_tol=0)


def _whole_loss(top: Entry) -> Iterator[Loss]:
    yield Loss("$", "the benchmark's own figures are not carried over: a table computes them from the runs")
    for key in top.unread():
        yield Loss("$", f"the key {shown(key)} is not carried over")
