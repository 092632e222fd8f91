"""The C simulator as Python sees it: integers and tables in, a record of text out.

A compiled scenario is plain data: the members of the C struct by name, lists where C has arrays. The record
is a text written by the simulator; nothing here adds to it or changes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tallymark.errors import BrokenRuntimeError
from tallymark.runtime import load_module, text_of

if TYPE_CHECKING:
    from tallymark._runtime import Ffi

_MESSAGE_BYTES: Final = 256
_JOIN_SECONDS: Final = 0.2  # how soon Ctrl-C is noticed while the simulator runs

Value: TypeAlias = "int | str | Struct | Sequence[int] | Sequence[Struct]"
Struct: TypeAlias = "Mapping[str, Any]"

# member → type of the element, member that holds the number of elements ("" when another one says it)
_ARRAYS: Final[Mapping[str, tuple[str, str]]] = {
    "times_ns": ("uint64_t", ""),
    "tenants": ("rt_sim_tenant", "tenants_count"),
    "providers": ("rt_sim_provider", "providers_count"),
    "models": ("rt_sim_model", "models_count"),
    "tools": ("rt_sim_tool", "tools_count"),
    "classes": ("rt_sim_class", "classes_count"),
    "tool_uses": ("rt_sim_tool_use", "tool_uses_count"),
    "recorded": ("rt_sim_recorded_task", "recorded_count"),
    "recorded_steps": ("rt_sim_recorded_step", "recorded_steps_count"),
    "recorded_calls": ("rt_sim_recorded_call", "recorded_calls_count"),
    "prefix_tokens": ("uint32_t", "prefixes_count"),
    "values": ("uint64_t", "values_count"),
    "retries": ("rt_sim_retry", "retries_count"),
    "degradations": ("rt_sim_degradation", "degradations_count"),
    "events": ("rt_sim_event", "events_count"),
    "evaluation_ids": ("uint32_t", "evaluation_count"),
    "trace_ids": ("uint32_t", "trace_count"),
}


class SimulationRefusedError(BrokenRuntimeError):
    """The simulator would not set up or finish a run."""

    def __init__(self, message: str) -> None:
        problem, _, do = message.partition("; ")
        super().__init__("simulate", problem, do or "correct the scenario or free memory, and run again")
        self.message = message


@dataclass(frozen=True, slots=True)
class Task:
    """A task that has ended; members as ``rt_sim_task`` has them."""

    task: int
    origin: int
    tenant: int
    outcome: int
    succeeded: int
    steps: int
    degradations: int
    logical_operations: int
    attempts: int
    arrived_ns: int
    ended_ns: int
    tokens_input: int
    tokens_cached: int
    tokens_output: int
    cost_pusd: int


@dataclass(frozen=True, slots=True)
class Span:
    """One attempt of a call of a traced task, or its wait for a slot; members as ``rt_sim_span`` has them."""

    task: int
    step: int
    kind: int
    dependency: int
    outcome: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    asked_ns: int
    started_ns: int
    ended_ns: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What depends on the machine or serves benchmarks; never part of a record."""

    events: int
    pops: int
    in_flight_peak: int
    cpu_ns: int
    rss_anon_growth_bytes: int
    bytes_of_a_task: int
    virtual_ns: int


class Simulation:
    """One simulated run: made ready by the constructor, then executed once. Use it as a context manager.

    SimulationRefusedError: a member of the scenario is out of range, or memory is missing.
    BrokenRuntimeError: there is no compiled runtime here.
    """

    def __init__(self, scenario: Struct) -> None:
        self._ffi, self._lib = load_module()
        self._sim: Any = self._ffi.NULL
        self._given, self._kept = _to_c(self._ffi, scenario)  # C reads the arrays and names until destroy
        handle, message = self._ffi.new("rt_sim **"), self._ffi.new("char[]", _MESSAGE_BYTES)
        status = self._lib.rt_sim_create(self._given, handle, message, _MESSAGE_BYTES)
        self._raise_for(status, message)
        self._sim = handle[0]

    def execute(self) -> None:
        """Run to the end and write the record. Ctrl-C ends the run early: its record says ``killed``."""
        message = self._ffi.new("char[]", _MESSAGE_BYTES)
        results: list[int] = []

        def run() -> None:
            results.append(self._lib.rt_sim_execute(self._sim, message, _MESSAGE_BYTES))

        thread = Thread(target=run, name="simulator")
        thread.start()
        while thread.is_alive():
            try:
                thread.join(_JOIN_SECONDS)
            except KeyboardInterrupt:
                self._lib.rt_sim_interrupt(self._sim)
        self._raise_for(results[0], message)

    def record(self) -> str:
        """The record, one line of JSON as the simulator wrote it. Only after ``execute``."""
        return text_of(self._ffi, self._lib.rt_sim_record(self._sim))

    def slowest(self) -> tuple[Task, ...]:
        """The tasks that took longest, longest first."""
        return self._tasks(self._lib.rt_sim_slowest)

    def failures(self) -> tuple[Task, ...]:
        """The first tasks that failed or were shed, in the order in which they ended."""
        return self._tasks(self._lib.rt_sim_failures)

    def spans(self) -> tuple[Span, ...]:
        """Every span of the traced tasks, in the order in which they ended."""
        count = self._ffi.new("size_t *")
        first = self._lib.rt_sim_spans(self._sim, count)
        return tuple(
            Span(**{name: int(getattr(first[at], name)) for name in Span.__slots__}) for at in range(count[0])
        )

    def figures(self) -> Figures:
        """What the run cost this machine."""
        seen = self._ffi.new("rt_sim_figures *")
        self._lib.rt_sim_figures_read(self._sim, seen)
        return Figures(**{name: int(getattr(seen, name)) for name in Figures.__slots__})

    def close(self) -> None:
        """Give everything back. Not while ``execute`` runs."""
        sim, self._sim = self._sim, self._ffi.NULL
        self._lib.rt_sim_destroy(sim)

    def _tasks(self, read: Any) -> tuple[Task, ...]:
        count = self._ffi.new("size_t *")
        first = read(self._sim, count)
        return tuple(
            Task(**{name: int(getattr(first[at], name)) for name in Task.__slots__}) for at in range(count[0])
        )

    def _raise_for(self, status: int, message: Any) -> None:
        if status != 0:
            raise SimulationRefusedError(text_of(self._ffi, message))

    def __enter__(self) -> Simulation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def digest() -> str:
    """The digest of the simulator's sources and flags: which simulator wrote a record."""
    ffi, lib = load_module()
    return text_of(ffi, lib.rt_sim_digest())


def digest_of_build() -> str | None:
    """The digest of the simulator that is installed here; None where there is none."""
    try:
        return digest()
    except BrokenRuntimeError:
        return None


def constant(name: str) -> int:
    """A constant of simulator.h without its prefix: ``constant("SAMPLES")``."""
    _, lib = load_module()
    return int(getattr(lib, f"RT_SIM_{name}"))


def _to_c(ffi: Ffi, scenario: Struct) -> tuple[Any, list[Any]]:
    """The C struct, and the arrays and names that it points to."""
    given = ffi.new("rt_sim_scenario *")
    kept: list[Any] = []
    for member, value in scenario.items():
        if member not in _ARRAYS:
            _set(given, member, value)
            continue
        element, count = _ARRAYS[member]
        array = ffi.new(f"{element}[]", max(len(value), 1))
        for at, one in enumerate(value):
            if isinstance(one, Mapping):
                for name, part in one.items():
                    _set(array[at], name, _named(ffi, part, kept))
            else:
                array[at] = one
        kept.append(array)
        setattr(given, member, array)
        if count:
            setattr(given, count, len(value))
    return given, kept


def _named(ffi: Ffi, value: Any, kept: list[Any]) -> Any:
    if not isinstance(value, str):
        return value
    kept.append(ffi.new("char[]", value.encode("utf-8")))
    return kept[-1]


def _set(target: Any, member: str, value: Any) -> None:
    if isinstance(value, Mapping):
        for name, part in value.items():
            setattr(getattr(target, member), name, part)
    else:
        setattr(target, member, value)
