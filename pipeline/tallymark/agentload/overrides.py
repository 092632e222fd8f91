"""``--set KEY=VALUE[,VALUE]``: a scenario's value changed from the command line.

A key is the path in the file: ``arrival.rate_per_min``, ``slots.workers``; an entry of a list goes by its
name: ``providers.vendor.tokens_per_min``, ``tools.crm.error``, ``retries.client.attempts``.
"""

from __future__ import annotations

import copy
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tallymark.errors import UsageError

Scalar: TypeAlias = int | float | bool | str
_LABELS: Final = ("name", "layer")
_WORD: Final = re.compile(r"[A-Za-z_-][A-Za-z0-9_.-]*\Z")


@dataclass(frozen=True, slots=True)
class Setting:
    """One key with the values asked for, in the order given."""

    key: str
    values: tuple[Scalar, ...]


def parse(texts: Sequence[str]) -> tuple[Setting, ...]:
    """The settings of several ``--set``. UsageError: no value, a value twice, or a key twice."""
    found: dict[str, Setting] = {}
    for text in texts:
        key, equals, listed = text.partition("=")
        if not equals or not key or not listed:
            raise UsageError(f"--set {text}", "there is no KEY=VALUE", "write --set slots.workers=8,16")
        if key in found:
            raise UsageError(f"--set {text}", f"{key} is set twice", "write all values in one --set")
        values = tuple(_value(one.strip(), text) for one in listed.split(","))
        if len(set(values)) < len(values):
            raise UsageError(f"--set {text}", "a value is there twice", "name each value once")
        found[key] = Setting(key, values)
    return tuple(found.values())


def _value(text: str, setting: str) -> Scalar:
    """A number or true or false as in TOML; any other word is text."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text if _WORD.match(text) else None
    if isinstance(value, (int, float, str)):
        return value
    raise UsageError(f"--set {setting}", f"{text!r} is no number or word", "give values as the file has them")


def points(settings: Sequence[Setting]) -> Iterator[tuple[tuple[str, Scalar], ...]]:
    """Every combination of the values, the last key varying fastest; one empty one without settings."""
    pairs = ([(setting.key, value) for value in setting.values] for setting in settings)
    yield from itertools.product(*pairs)


def changed(value: Mapping[str, Any], settings: Sequence[tuple[str, Scalar]]) -> dict[str, Any]:
    """A copy of a scenario's value with the settings in it; the caller checks it anew.

    UsageError: a key leads nowhere. A key that the file leaves out is added in its section.
    """
    made: dict[str, Any] = copy.deepcopy(dict(value))
    for key, wanted in settings:
        *sections, last = key.split(".")
        place: Any = made
        for section in sections:
            place = _member(place, section, key)
        if not isinstance(place, dict):
            raise _nowhere(key, "names no section of the scenario", "name a value in a section")
        place[last] = wanted
    return made


def _member(place: Any, section: str, key: str) -> Any:
    if isinstance(place, list):
        labels = [next((str(one[label]) for label in _LABELS if label in one), "") for one in place]
        if section not in labels:
            raise _nowhere(key, f"there is no {section!r}", f"use one of {', '.join(labels)}")
        return place[labels.index(section)]
    if not isinstance(place, dict):
        raise _nowhere(key, f"there is no {section!r}", "use a key of the file")
    return place.setdefault(section, {})


def _nowhere(key: str, problem: str, do: str) -> UsageError:
    return UsageError(f"--set {key}", problem, do)
