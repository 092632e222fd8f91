"""The calculation of one cell as a person would do it on paper: raw values, one rule, one rounding.

It rounds digit by digit, as at school, and so checks the rounding of the recount as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tallymark.recount import jq, slopes
from tallymark.recount import recount as script
from tallymark.recount.published import Report
from tallymark.recount.reference import Unresolved
from tallymark.recount.shown import value_text

Number = int | float


@dataclass(frozen=True, slots=True)
class Calculation:
    """The steps (what is done, with which numbers) and the text they end with.

    ``agrees``: the text is that of the recount and of the published report.
    """

    report: str
    row: str
    column: str
    steps: tuple[tuple[str, str], ...]
    text: str
    agrees: bool

    def to_json(self) -> dict[str, Any]:
        """The calculation as JSON."""
        return {
            "report": self.report,
            "row": self.row,
            "column": self.column,
            "steps": [{"step": step, "text": text} for step, text in self.steps],
            "text": self.text,
            "agrees": self.agrees,
        }

    def lines(self) -> list[str]:
        """The calculation as aligned text."""
        head = f"report {self.report}, row {self.row}, column {self.column}"
        return [head, *(f"  {step:<8} {text}" for step, text in self.steps)]


def calculate(report: Report, row: str, column: str) -> Calculation:
    """The calculation of a cell. Unresolved: there is no such cell."""
    cells = report.row(row)["cells"]
    if column not in cells:
        raise Unresolved(f"report {report.name} has no column {column!r}")
    cell, rule = cells[column], report.columns[column]
    steps = [("rule", rule["rule"]), *_files(report, row, column)]
    if "absent" in cell:
        steps.append(("absent", cell["absent"]["reason"]))
        text = cell["text"]
    else:
        runs = report.sources(row, column)
        value = _aggregate(rule, runs, row, steps)
        exact = _converted(value, rule, steps)
        text = _rounded(exact, rule, steps)
    published = _published(report, row, column)
    steps.append(("shown", f'"{published}" in the published report'))
    if "absent" not in cell:
        steps.append(("check", jq.of_cell(report, row, column)))
    return Calculation(report.name, row, column, tuple(steps), text, text == cell["text"] == published)


def _published(report: Report, row: str, column: str) -> str:
    for one in report.value["rows"]:
        if one["id"] == row and column in one["cells"]:
            return str(one["cells"][column]["text"])
    return ""


def _files(report: Report, row: str, column: str) -> list[tuple[str, str]]:
    digests = {run.sha256 for run in report.sources(row, column)}
    return [
        ("file", f"{document.path}  sha256 {document.sha256}")
        for document in report.data
        if document.sha256 in digests
    ]


def _aggregate(
    rule: dict[str, Any], runs: Sequence[script.Run], row: str, steps: list[tuple[str, str]]
) -> Number:
    kind = rule["aggregate"]
    if kind == "run_count":
        steps += [("run", f"{run.where}  outcome {run.value['outcome']}") for run in runs]
        steps.append(("count", str(len(runs))))
        return len(runs)
    if kind == "pooled_percentile":
        return _percentile(rule, runs, steps)
    if rule.get("baseline"):
        return _paired(rule, runs, row, steps)
    if kind.startswith("theil_sen"):
        return slopes.calculate(rule, runs, steps)
    values = _values(rule["source"], runs, steps)
    if "over" not in rule:
        return _plain(kind, values, steps)
    total = _total(values, steps)
    below = _values(rule["over"], runs, steps)
    if kind == "ratio_of_totals":
        return _quotient(total, _total(below, steps), steps)
    mean = _quotient(total, len(values), steps)
    return _quotient(mean, _plain("median_of_runs", below, steps), steps)


def _paired(
    rule: dict[str, Any], runs: Sequence[script.Run], row: str, steps: list[tuple[str, str]]
) -> Number:
    """The runs of each round divided by the baseline's of the same round, then the rule over the ratios."""
    ratios: list[Number] = []
    for number, same in _rounds(runs, row).items():
        steps.append(("round", f"{number}: runs {_named(same)}"))
        above = _middle(rule, same, steps)
        base = _rounds(runs, rule["baseline"])[number]
        steps.append(("baseline", f"round {number}: runs {_named(base)}"))
        ratios.append(_quotient(above, _middle(rule, base, steps), steps))
    return _plain(rule["aggregate"].replace("paired_ratios", "runs"), ratios, steps)


def _rounds(runs: Sequence[script.Run], row: str) -> dict[int, list[script.Run]]:
    found: dict[int, list[script.Run]] = {}
    for run in (run for run in runs if run.row == row):
        found.setdefault(run.value.get("round", run.value["repetition"]), []).append(run)
    return found


def _named(runs: Sequence[script.Run]) -> str:
    return ", ".join(run.where for run in runs)


def _middle(rule: dict[str, Any], runs: Sequence[script.Run], steps: list[tuple[str, str]]) -> Number:
    """The source of a run, over what the rule divides it by, if anything; of several runs the median."""
    values = _values(rule["source"], runs, steps)
    if "over" in rule:
        over = _values(rule["over"], runs, steps)
        values = [_quotient(value, below, steps) for value, below in zip(values, over, strict=True)]
    return _plain("median_of_runs", values, steps) if len(values) > 1 else values[0]


def _values(source: str, runs: Sequence[script.Run], steps: list[tuple[str, str]]) -> list[Number]:
    values: list[Number] = [script.pointer(run.value, f"$.{source}") for run in runs]
    steps += [
        ("value", f"{run.where}.{source} = {value_text(value)}")
        for run, value in zip(runs, values, strict=True)
    ]
    return values


def _plain(kind: str, values: list[Number], steps: list[tuple[str, str]]) -> Number:
    if kind == "total":
        return _total(values, steps)
    ordered = sorted(values)
    steps.append(("sorted", ", ".join(map(value_text, ordered))))
    picks = {"max_of_runs": ordered[-1], "min_of_runs": ordered[0], "only_value": ordered[0]}
    if kind in picks:
        words = {"max_of_runs": "the largest", "min_of_runs": "the smallest", "only_value": "the only value"}
        steps.append(("take", f"{words[kind]}: {value_text(picks[kind])}"))
        return picks[kind]
    middle = len(ordered) // 2
    if len(ordered) % 2:
        steps.append(("median", f"the middle one of {len(ordered)}: {value_text(ordered[middle])}"))
        return ordered[middle]
    low, high = ordered[middle - 1], ordered[middle]
    value = script.scaled(low + high, 1, 2)
    steps.append(("median", f"({value_text(low)} + {value_text(high)}) / 2 = {value_text(value)}"))
    return value


def _total(values: list[Number], steps: list[tuple[str, str]]) -> Number:
    whole = all(isinstance(value, int) for value in values)
    total: Number = sum(values) if whole else math.fsum(values)
    steps.append(("sum", f"{' + '.join(map(value_text, values))} = {value_text(total)}"))
    return total


def _quotient(above: Number, below: Number, steps: list[tuple[str, str]]) -> Number:
    steps.append(("divide", f"{value_text(above)} / {value_text(below)} = {value_text(above / below)}"))
    return above / below


def _percentile(rule: dict[str, Any], runs: Sequence[script.Run], steps: list[tuple[str, str]]) -> int:
    """Walks the added histogram up to the bucket that holds the rank."""
    held = [script.pointer(run.value, f"$.{rule['source']}") for run in runs]
    for run, one in zip(runs, held, strict=True):
        steps.append(
            ("value", f"{run.where}.{rule['source']}: {one['count']} samples, max {one['max_ns']} ns")
        )
    a, b = (int(part) for part in rule["percentile"].split("/"))
    count = sum(int(one["count"]) for one in held)
    rank = max(1, -(-a * count // b))
    steps.append(("rank", f"smallest whole number >= {a} * {count} / {b} = {rank}"))
    buckets: dict[int, int] = {}
    for one in held:
        for index, number in one["buckets"]:
            buckets[index] = buckets.get(index, 0) + number
    seen = 0
    for index in sorted(buckets):
        if seen + buckets[index] >= rank:
            break
        seen += buckets[index]
    top, highest = script.bucket_high(index), max(int(one["max_ns"]) for one in held if one["count"])
    steps.append(("bucket", f"{seen} samples lie below bucket {index}, which holds {buckets[index]}"))
    value = min(top, highest)
    steps.append(("bound", f"the smaller of its top {top} ns and the maximum {highest} ns: {value} ns"))
    return value


def _converted(value: Number, rule: dict[str, Any], steps: list[tuple[str, str]]) -> Number:
    numerator, denominator = rule["factor"]
    if numerator == denominator:
        return value
    exact = script.scaled(value, numerator, denominator)
    factor = (f" * {numerator}" if numerator != 1 else "") + (f" / {denominator}" if denominator != 1 else "")
    steps.append(("convert", f"{value_text(value)}{factor} = {value_text(exact)} {rule['unit']}"))
    return exact


def _rounded(exact: Number, rule: dict[str, Any], steps: list[tuple[str, str]]) -> str:
    digits = rule.get("significant")
    wanted = f"{rule['places']} places" if digits is None else f"{digits} significant digits"
    text, dropped = half_up(exact, rule["places"]) if digits is None else half_up_significant(exact, digits)
    why = f"first digit dropped is {dropped}: {'up' if dropped >= '5' else 'down'}"
    steps.append(("round", f"{plain(exact)} to {wanted}, {why}: {text}"))
    return f"≤ {text}" if rule.get("percentile") else text


def plain(value: Number) -> str:
    """The shortest decimal of a number in fixed notation."""
    return format(Decimal(repr(value)), "f")


def half_up(value: Number, places: int) -> tuple[str, str]:
    """(text, first dropped digit): at most ``places`` decimals of the shortest decimal, halves away from 0.

    ``places`` may be negative: then that many digits before the point become zeros.
    """
    text = plain(value)
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, decimals = text.partition(".")
    all_digits = whole + decimals.ljust(max(places, 0) + 1, "0")
    keep = len(whole) + places
    all_digits, keep = ("0" * -keep + all_digits, 0) if keep < 0 else (all_digits, keep)
    dropped = all_digits[keep]
    kept = str(int(all_digits[:keep] or "0") + (dropped >= "5"))
    if places <= 0:
        result = kept + "0" * -places if kept != "0" else "0"
    else:
        kept = kept.rjust(places + 1, "0")
        result = f"{kept[:-places]}.{kept[-places:]}"
    return (sign + result if any(digit in "123456789" for digit in result) else result), dropped


def half_up_significant(value: Number, digits: int) -> tuple[str, str]:
    """The same to ``digits`` significant digits; zero is "0"."""
    text = plain(value).lstrip("-")
    if not any(digit in "123456789" for digit in text):
        return "0", "0"
    lead = _leading(text)
    shown, dropped = half_up(value, digits - lead)
    carried = _leading(shown) > lead  # 9.996 becomes 10.00: one decimal too many
    return (half_up(value, digits - lead - 1)[0], dropped) if carried else (shown, dropped)


def _leading(shown: str) -> int:
    """The place of the first digit that counts: 1 for 5.0, 0 for 0.5, -1 for 0.05."""
    whole, _, decimals = shown.lstrip("-").partition(".")
    if whole.strip("0"):
        return len(whole)
    return -(len(decimals) - len(decimals.lstrip("0")))
