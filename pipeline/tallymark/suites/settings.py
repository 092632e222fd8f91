"""``--set key=value[,value]…``: text in, typed values out; whatever is unknown is misuse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import MappingProxyType

from tallymark.errors import UsageError
from tallymark.suites.model import KEYS, Configuration, Scalar, Settings, SuiteDefinition

# decided by the command's argument, by the code or by the suite's cases: configuration, but nobody sets them
FIXED = ("suite", "benchmark_version", "variant")
SETTABLE: tuple[str, ...] = tuple(key for key in KEYS if key not in FIXED)

_WHOLE = frozenset(field.name for field in fields(Configuration) if field.type == "int")
_NUMBER = re.compile(r"-?[0-9]{1,16}\Z")
_WORD = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
_LARGEST = 2**53 - 1


def parse(texts: Iterable[str], suite: SuiteDefinition) -> Settings:
    """The settings in ``texts`` (each ``key=value[,value]``), checked for key, type and repetition.

    UsageError: an unknown key, a key given twice, a value of the wrong type, several values for a key that
    the suite does not vary or for more keys than it varies at once, or several task counts. Ranges are the
    schema's business (``plan.build``).
    """
    values: dict[str, tuple[Scalar, ...]] = {}
    for text in texts:
        key, several = _one(text, suite)
        if key in values:
            raise UsageError(f"--set {text}", f"{key} is set twice", f"write --set {key}=VALUE,VALUE once")
        values[key] = several
    _refuse_many_factors(values, suite)
    return Settings(MappingProxyType(values))


def _one(text: str, suite: SuiteDefinition) -> tuple[str, tuple[Scalar, ...]]:
    where = f"--set {text}"
    key, equals, right = text.partition("=")
    if not equals:
        raise UsageError(where, "there is no '='", "write --set key=value")
    if key in FIXED:
        raise UsageError(where, f"{key} follows from the suite that is run", "name the suite itself")
    if key not in SETTABLE:
        raise UsageError(
            where, f"{key!r} is not a configuration key", f"use one of {', '.join(sorted(SETTABLE))}"
        )
    if key in suite.decided:
        cases = ", ".join(case.name for case in suite.cases if key in case.keys)
        raise UsageError(
            where,
            f"{key} is what the cases of suite {suite.name} differ in ({cases})",
            "leave it out, or run suite sweep to choose it",
        )
    values = tuple(_value(key, part, where) for part in right.split(","))
    if len(set(values)) != len(values):
        raise UsageError(where, "a value is given twice", "name each value once")
    if len(values) > 1:
        _refuse_product(key, suite, where)
    return key, values


def _refuse_product(key: str, suite: SuiteDefinition, where: str) -> None:
    """The suite's axes make a product, or any key where the user chooses; the task count never does."""
    if key == "tasks":
        raise UsageError(
            where,
            "one document holds one task count",
            "run the suite once for each count, with its own --label",
        )
    if not suite.free_factors and key not in suite.axes:
        axes = ", ".join(suite.axes)
        raise UsageError(
            where,
            f"suite {suite.name} takes several values only for {axes}"
            if axes
            else f"suite {suite.name} takes one value of each key",
            f"give {key} one value, and run again for the next",
        )


def _refuse_many_factors(values: Mapping[str, tuple[Scalar, ...]], suite: SuiteDefinition) -> None:
    """A product of many factors has a table that nobody reads, and takes the time of all of them."""
    factors = [key for key in KEYS if len(values.get(key, ())) > 1]
    if suite.free_factors and len(factors) > suite.free_factors:
        raise UsageError(
            "--set",
            f"{len(factors)} keys have several values: {', '.join(factors)}",
            f"vary {suite.free_factors} of them at most, and run again for the others with another --label",
        )


def _value(key: str, text: str, where: str) -> Scalar:
    if key in _WHOLE:
        if not _NUMBER.match(text) or abs(int(text)) > _LARGEST:
            raise UsageError(where, f"{text!r} is not a whole number below 2^53", f"give {key} one")
        return int(text)
    if not _WORD.match(text):
        raise UsageError(where, f"{text!r} is not a value of {key}", f"give {key} one lower-case word")
    return text


def as_options(settings: Settings) -> list[str]:
    """The settings as a command line repeats them, keys in the order of the run record."""
    return [
        f"--set {key}={','.join(str(value) for value in settings.values[key])}"
        for key in SETTABLE
        if key in settings.values
    ]
