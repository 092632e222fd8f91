"""hyperfine ``--export-json``: one timing is one run.

What the versions wrote, by hyperfine's own history:

* ``times`` since 1.0 (optional: other programs that borrow the format leave it out, and are refused);
* ``parameter`` (a bare value, its name unrecorded) from 1.6 to 1.10, ``parameters`` since 1.11;
* ``median`` since 1.6; ``exit_codes`` since 1.12, with the signal + 128 for a killed process on Unix,
  else null;
* ``stddev`` is null for a single timing since 1.13;
* ``memory_usage_byte``, one peak for each timing, since 1.20 (0 on Windows, where it is not read).

No version records its own number, the machine, or the user and system time of a single timing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tallymark.evidence.strict_json import JsonValue
from tallymark.importers.foreign import Entry, shown
from tallymark.importers.interface import Imported, ImportedRun, Loss, Reported

_LONGEST_SECONDS = 1e7
_LONGEST_NAME = 2000
_LONGEST_KEY = 64
_PARAMETER_NAME = re.compile(r"[\w-]{1,64}")
_EXIT_CODES = range(-(2**31), 2**32)
_MEMORY_BYTES = range(2**53)

_WHOLE_FILE_LOSS = (
    Loss("$", "hyperfine records no machine: neither processor, cores and memory nor the system"),
    Loss("$", "hyperfine records no version of itself, no start time, no warm-up count and no shell"),
)


@dataclass(frozen=True, slots=True)
class _Series:
    """The columns of one entry that have one value for each timing."""

    times: list[float]
    exit_codes: list[int | None] | None
    memory: list[int | None]


class Hyperfine:
    """The importer of ``hyperfine --export-json`` files of every version."""

    name = "hyperfine"
    made_by = "hyperfine --export-json"

    def detect(self, data: JsonValue) -> bool:
        """An object with ``results``, of which the first names a command."""
        if not isinstance(data, dict):
            return False
        results = data.get("results")
        if not isinstance(results, list):
            return False
        return not results or (isinstance(results[0], dict) and "command" in results[0])

    def read(self, data: JsonValue, name: str) -> Imported:
        """All entries in file order. Raises FindingsError, see Importer.read."""
        top = Entry(data, name, "$")
        results = top.array("results")
        if not results:
            raise top.refusal("results", "is empty: nothing was measured", "run hyperfine with a command")
        runs: list[ImportedRun] = []
        reported: list[Reported] = []
        loss = [*_WHOLE_FILE_LOSS, *_unread(top)]
        for index, result in enumerate(results):
            entry = Entry(result, name, f"$.results[{index}]")
            figures, lost = _reported(entry)
            series, lost_series = _series(entry)
            reported.append(figures)
            runs.extend(_runs(figures, series))
            loss.extend([*lost, *lost_series, *_unread(entry)])
        return Imported(self.name, None, tuple(runs), tuple(reported), tuple(loss))


def _reported(entry: Entry) -> tuple[Reported, list[Loss]]:
    """Name, parameters and hyperfine's own figures of one entry."""
    benchmark = _name(entry, "command", entry.text("command"))
    parameters, loss = _parameters(entry)
    figures = Reported(
        pointer=entry.pointer,
        benchmark=benchmark,
        parameters=parameters,
        mean_s=entry.number("mean"),
        stddev_s=entry.optional_number("stddev"),
        median_s=entry.optional_number("median"),
        min_s=entry.optional_number("min"),
        max_s=entry.optional_number("max"),
        user_mean_s=entry.optional_number("user"),
        system_mean_s=entry.optional_number("system"),
    )
    for key, value in (("user", figures.user_mean_s), ("system", figures.system_mean_s)):
        if value is not None:
            reason = f"only the mean {key} time over all timings is recorded: kept in 'reported', in no run"
            loss.append(Loss(entry.at(key), reason))
    return figures, loss


def _name(entry: Entry, key: str, text: str) -> str:
    """A benchmark or parameter text that can be shown: neither empty, nor endless, nor with unseen signs."""
    if not text.strip():
        raise entry.refusal(key, "is empty", "name the command with --command-name")
    if len(text) > _LONGEST_NAME:
        raise entry.refusal(
            key, f"has {len(text)} characters, more than {_LONGEST_NAME}", "name it with --command-name"
        )
    if not text.isprintable():
        raise entry.refusal(
            key,
            f"{shown(text)} holds a character that does not print (control, line break, invisible)",
            "give the command a one-line name with --command-name",
        )
    return text


def _parameters(entry: Entry) -> tuple[dict[str, str], list[Loss]]:
    """Parameters by name; the nameless one of hyperfine 1.6 to 1.10 is called ``parameter``."""
    if entry.has("parameters"):
        inner = Entry(entry.take("parameters"), entry.file, entry.at("parameters"))
        return {_parameter_name(inner, key): _printable(inner, key) for key in inner.unread()}, []
    if not entry.has("parameter"):
        return {}, []
    loss = Loss(entry.at("parameter"), "the name of the parameter was not recorded: it is called 'parameter'")
    value = entry.take("parameter")
    if isinstance(value, int) and not isinstance(value, bool):
        return {"parameter": str(value)}, [loss]
    return {"parameter": _printable(entry, "parameter")}, [loss]


def _parameter_name(inner: Entry, key: str) -> str:
    """A parameter's name: letters, digits, ``_`` and ``-``, so that it can be a key of a table."""
    if not _PARAMETER_NAME.fullmatch(key):
        problem = "is no name for a parameter (letters, digits, _ and -)"
        raise inner.refusal(key, problem, "rename the parameter in the hyperfine command")
    return key


def _printable(entry: Entry, key: str) -> str:
    """The text of one parameter; it may be empty, since ``-L flag ,-O2`` is a usual way to call hyperfine."""
    text = entry.text(key)
    return _name(entry, key, text) if text else text


def _series(entry: Entry) -> tuple[_Series, list[Loss]]:
    """The timings of one entry with what belongs to each of them."""
    if not entry.has("times"):
        raise entry.refusal(
            "times",
            "is missing: a mean without its samples cannot be recounted",
            "export with hyperfine --export-json, which keeps every timing",
        )
    times = [_seconds(entry, index, value) for index, value in enumerate(entry.array("times"))]
    if not times:
        raise entry.refusal("times", "is empty: nothing was measured", "run hyperfine again")
    loss: list[Loss] = []
    codes = _exit_codes(entry, len(times))
    if codes is None:
        reason = "no exit codes are recorded: a run that failed cannot be told from one that completed"
        loss.append(Loss(entry.at("exit_codes"), reason))
    memory, lost_memory = _memory(entry, len(times))
    return _Series(times, codes, memory), loss + lost_memory


def _seconds(entry: Entry, index: int, value: JsonValue) -> float:
    """One timing in seconds: positive and below 1e7 (116 days)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise entry.refusal("times", "is not a number", index=index)
    if value <= 0:
        problem = "is no duration: it must be above 0 (hyperfine subtracts the shell's start and stops at 0)"
        do = "measure without a shell (hyperfine -N) or measure a longer command"
        raise entry.refusal("times", problem, do, index)
    if value > _LONGEST_SECONDS:
        problem = "is more than 1e7 s (116 days): the unit must be another one"
        do = "hyperfine writes seconds; export the file again without converting it"
        raise entry.refusal("times", problem, do, index)
    return value


def _exit_codes(entry: Entry, count: int) -> list[int | None] | None:
    """One exit code (null: killed) for each timing; None when the version wrote none."""
    if not entry.has("exit_codes"):
        return None
    codes: list[int | None] = []
    for index, value in enumerate(_as_many(entry, "exit_codes", count)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise entry.refusal("exit_codes", "is neither an integer nor null", index=index)
        if value is not None and value not in _EXIT_CODES:
            raise entry.refusal("exit_codes", "is no exit code", index=index)
        codes.append(value)
    return codes


def _memory(entry: Entry, count: int) -> tuple[list[int | None], list[Loss]]:
    """One peak for each timing; 0 means that the tool did not read it."""
    if not entry.has("memory_usage_byte"):
        return [None] * count, []
    peaks: list[int | None] = []
    for index, value in enumerate(_as_many(entry, "memory_usage_byte", count)):
        if isinstance(value, bool) or not isinstance(value, int) or value not in _MEMORY_BYTES:
            raise entry.refusal("memory_usage_byte", "is no number of bytes", index=index)
        peaks.append(value or None)
    if None not in peaks:
        return peaks, []
    return peaks, [Loss(entry.at("memory_usage_byte"), "0 bytes: the memory was not read, the run has none")]


def _as_many(entry: Entry, key: str, count: int) -> list[JsonValue]:
    """An array with one element for each timing. Raises FindingsError."""
    values = entry.array(key)
    if len(values) != count:
        raise entry.refusal(key, f"has {len(values)} elements for {count} timings")
    return values


def _runs(figures: Reported, series: _Series) -> Iterator[ImportedRun]:
    """One run for each timing, numbered from 1."""
    recorded = series.exit_codes is not None
    codes = series.exit_codes if series.exit_codes is not None else [0] * len(series.times)
    for index, (elapsed, code, memory) in enumerate(zip(series.times, codes, series.memory, strict=True)):
        yield ImportedRun(
            benchmark=figures.benchmark,
            parameters=figures.parameters,
            repetition=index + 1,
            outcome="killed" if code is None else "failed" if code else "completed",
            elapsed_s=elapsed,
            exit_code=code if recorded else None,
            exit_code_recorded=recorded,
            memory_bytes=memory,
        )


def _unread(entry: Entry) -> Iterator[Loss]:
    """A loss for each key that this reader does not know."""
    for key in entry.unread():
        pointer = entry.at(key) if len(key) <= _LONGEST_KEY else entry.pointer
        yield Loss(pointer, f"the key {shown(key)} is not known to the importer: not carried over")
