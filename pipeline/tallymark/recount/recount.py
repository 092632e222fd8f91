#!/usr/bin/env python3
"""Recount a published table from its raw files: one file, standard library only, Python 3.8 or newer.

    python3 recount.py NAME.spec.json FILE... [--report NAME.json]    from the raw files named here
    python3 recount.py BUNDLE.zip                                     spec, report and raw files in one zip

Prints file hashes, row keys, rounding rules and the table, and with a report every difference; stops at the
first odd thing. Exit code 0: agrees, 1: differs or does not fit the spec, 2: wrong call or spec, 5: a file is
not strict JSON. Writes and fetches nothing, and shares no code with the program that made the pages.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import sys
import zipfile
import zlib
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple, Union

Number = Union[int, float]
Json = Dict[str, Any]
DIFFERS, MISUSE, UNREADABLE = 1, 2, 5
MAX_BYTES, MAX_INTEGER, WIDE = 2**30, 2**53 - 1, Context(prec=800, rounding=ROUND_HALF_UP)
MISFITS = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)
RULE = "name source over baseline aggregate percentile samples unit factor places significant".split()  # noqa: SIM905
RULE += ["include_failed"]
LATER_RULE = ("outcome", "skip", "resolution")  # of report-spec/1.1: digested where they are used
LEDGER = "found published failed excluded duplicate expected missing warmups closes".split()  # noqa: SIM905
LEDGER += ["failed_as_planned"]
ORDERS = r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]|##(?=[a-z]*\[)"


class Refused(Exception):  # noqa: N818 - the name reads as the verdict
    """Stops the recount: where, what is wrong, what to do; ``code`` is the exit code."""

    def __init__(self, where: str, problem: str, do: str = "Use the published files", code: int = 1) -> None:
        super().__init__("%s: %s. %s." % (where, problem, do))
        self.where, self.problem, self.do, self.code = where, problem, do, code


def read_json(data: bytes, name: str) -> Any:
    """Strict JSON: UTF-8, no BOM, no duplicate key, no NaN or infinity, no integer beyond 2^53 - 1."""

    def members(pairs: List[Tuple[str, Any]]) -> Json:
        names = [key for key, _ in pairs]
        if len(set(names)) != len(names):
            raise ValueError("duplicate key %s" % max(names, key=names.count))
        return dict(pairs)

    def number(text: str) -> Number:
        whole = text.lstrip("-").isdigit()
        value = int(text) if whole and len(text) < 18 else float(text)
        if not math.isfinite(value) or whole and abs(value) > MAX_INTEGER:
            raise ValueError("%s is no finite number or is beyond 2^53 - 1" % text[:40])
        return value

    try:
        if len(data) > MAX_BYTES or data[:3] == b"\xef\xbb\xbf":
            raise ValueError("too large, or starts with a byte order mark")
        text = data.decode("utf-8")
        hooks = {"parse_float": number, "parse_int": number, "parse_constant": number}  # type: Any
        value = json.loads(text, object_pairs_hook=members, **hooks)
        if "\\ud" in text.lower():
            compact(value).encode("utf-8")  # a lone surrogate does not encode
        return value
    except (ValueError, RecursionError) as error:
        raise Refused(name + "::$", "not strict JSON: %s" % str(error)[:200], code=UNREADABLE) from None


def compact(value: Any) -> str:
    """One spelling for equal values; 1, 1.0, true and "1" stay apart."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def pointer(value: Any, text: str) -> Any:
    """The value at a pointer such as ``$.runs[3].elapsed_ms``; None when nothing is there."""
    steps = re.findall(r'\.([\w-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]', text)
    if "$" + "".join("." + a if a else "[%s]" % (b or c) for a, b, c in steps) != text:
        raise Refused(text, "not a pointer", "Write it like $.runs[3].elapsed_ms", MISUSE)
    for name, index, quoted in steps:
        if index:
            value = value[int(index)] if isinstance(value, list) and int(index) < len(value) else None
        else:
            value = value.get(name or json.loads(quoted)) if isinstance(value, dict) else None
    return value


def fixed(value: Number, places: int) -> str:
    """Half up to ``places`` decimals on the shortest decimal that reads back; no exponent, no -0."""
    if isinstance(value, bool) or not math.isfinite(value):
        raise Refused(repr(value), "not a finite number")
    rounded = WIDE.quantize(Decimal(repr(value)), Decimal(1).scaleb(-places))
    return format(rounded or abs(rounded), "f")


def significant(value: Number, digits: int) -> str:
    """Half up to ``digits`` significant digits in fixed notation; zero is "0"."""
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(repr(value))  # 9.996 becomes 10.0
    last = Decimal(1).scaleb(rounded.adjusted() + 1 - digits)
    return format(WIDE.quantize(rounded, last), "f") if rounded else "0"


def scaled(value: Number, num: int, den: int) -> Number:
    """``value * num / den``: an exact integer where it divides, otherwise IEEE doubles in this order."""
    if isinstance(value, int) and value * num % den == 0:
        return value * num // den
    return float(value) * num / den


def median(values: Sequence[Number]) -> Number:
    """The middle value; of an even number, the mean of the two middle ones."""
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else scaled(ordered[middle - 1] + ordered[middle], 1, 2)


def total(values: Sequence[Number]) -> Number:
    """Integers exactly; floats by math.fsum."""
    return sum(values) if all(isinstance(value, int) for value in values) else math.fsum(values)


def bucket_high(index: int) -> int:
    """Highest value of a bucket of log-linear/7: exact below 128, then 128 buckets an octave."""
    return index if index < 128 else (((index % 128 | 128) + 1) << (index // 128 - 1)) - 1


def merge(histograms: Sequence[Json], where: str = "histogram") -> Json:
    """Adds histograms of one layout exactly: {"count", "max_ns", "buckets": {index: count}}."""
    buckets = {}  # type: Dict[int, int]
    for one in histograms:
        layout = (one["layout"], one["unit"], one["sample_every"])
        if layout != ("log-linear/7", "ns", histograms[0]["sample_every"]):
            raise Refused(where, "cannot add a histogram of layout %s, %s, %s" % layout, "Take them apart")
        places = [index for index, _ in one["buckets"]]
        if places != sorted(set(places)) or sum(count for _, count in one["buckets"]) != one["count"]:
            raise Refused(where, "buckets do not add up to their count")
        for index, count in one["buckets"]:
            buckets[index] = buckets.get(index, 0) + count
    highest = max((one["max_ns"] for one in histograms if one["count"]), default=None)
    return {"count": sum(buckets.values()), "max_ns": highest, "buckets": buckets}


def percentile(merged: Json, a: int, b: int) -> int:
    """Nearest rank a/b in ns: top of the bucket that holds it, never above the exact maximum."""
    rank, seen = max(1, (a * merged["count"] + b - 1) // b), 0
    for index in sorted(merged["buckets"]):
        seen += merged["buckets"][index]
        if seen >= rank:
            return min(bucket_high(index), int(merged["max_ns"]))
    raise Refused("histogram", "is empty", "Publish no percentile of nothing")


class Run:
    """One record: where it stands, its complete configuration, and what becomes of it in the ledger."""

    def __init__(self, name: str, sha256: str, document: Json, index: int, spec: Json) -> None:
        self.name, self.sha256, self.value = name, sha256, document["runs"][index]
        self.pointer = "$.runs[%d]" % index
        self.where = "%s::%s" % (name, self.pointer)
        self.configuration = {}  # type: Json
        older = document["schema"] in spec.get("evidence_older", [])  # read with the defaults of newer keys
        for key in spec["config_keys"]:
            owner, _, last = key["pointer"].replace("[]", "[%d]" % index).rpartition(".")
            holder = pointer(document, owner)
            if not isinstance(holder, dict) or last not in holder and not (older and "default_before" in key):
                raise Refused("%s::%s.%s" % (name, owner, last), "missing")
            self.configuration[key["name"]] = holder[last] if last in holder else key["default_before"]
        self.key = {key: self.configuration[key] for key in spec["rows"]}
        self.row = row_id(self.key)
        self.state = "published" if self.value.get("outcome") == "completed" else "failed"
        self.planned = False  # whether it failed as its plan announced


def row_id(key: Json) -> str:
    """``tasks=1000000,agents=100``: the row keys in the order of the spec, values as JSON."""
    return ",".join("%s=%s" % (name, compact(value)) for name, value in key.items())


def load(spec: Json, files: Sequence[Tuple[str, bytes]]) -> Tuple[List[Run], int]:
    """All runs by file name and index, and the number of warm-ups. Stops at mixed kinds and duplicates."""
    runs, seen, warmups = [], {}, 0  # type: Tuple[List[Run], Dict[str, str], int]
    for name, data in sorted(files):
        sha256, document = hashlib.sha256(data).hexdigest(), read_json(data, name)
        if document["schema"] not in [spec["evidence_schema"], *spec.get("evidence_older", [])]:
            raise Refused(name, "is %s, not %s" % (document["schema"], spec["evidence_schema"]))
        if document["execution"]["complete"] is not True:
            raise Refused(name + "::$.execution.complete", "not true", "Finish the execution or leave it out")
        if not isinstance(document["runs"], list):
            raise Refused(name + "::$.runs", "not a list")
        own = [Run(name, sha256, document, index, spec) for index in range(len(document["runs"]))]
        ids = [sha256, document["execution"]["id"], pointer(document, "$.source.sha256")]
        for where, mark in [(name, mark) for mark in ids] + [(r.where, r.value.get("run_id")) for r in own]:
            if mark is not None and mark in seen:
                raise Refused(where, "duplicate of %s (%s)" % (seen[mark], mark))
            seen[mark] = where
        if "plan" in document["execution"]:
            follow_plan(name + "::$.execution.plan", document["execution"]["plan"], own)
        runs, warmups = runs + own, warmups + len(document.get("warmups", []))
    if not runs:
        raise Refused("recount.py", "no run in %d files" % len(files), "Name the raw files", MISUSE)
    for entry in spec.get("exclude") or []:
        named = [run for run in runs if (run.sha256, run.pointer) == (entry["sha256"], entry["pointer"])]
        if not named:
            raise Refused(entry["sha256"], "has no %s to exclude" % entry["pointer"])
        named[0].state = "excluded"
    return runs, warmups


def follow_plan(where: str, plan: Sequence[Json], runs: Sequence[Run]) -> None:
    """Each entry of a recorded plan was run once and with the configuration that was planned."""
    by_index = {run.value.get("index"): run for run in runs}
    if sorted(entry["index"] for entry in plan) != sorted(by_index) or len(plan) != len(runs):
        raise Refused(where, "plans %d runs, not these %d" % (len(plan), len(runs)))
    for entry in plan:
        run, planned = by_index[entry["index"]], dict(entry["configuration"], repetition=entry["repetition"])
        actual = dict(run.configuration, repetition=run.value.get("repetition"))
        odd = [key for key in planned if compact(planned[key]) != compact(actual.get(key))]
        if odd:
            raise Refused(run.where, "%s: not as planned" % ", ".join(odd))
        run.planned = run.value.get("outcome") in entry.get("expected_outcomes", [])


def constants(spec: Json, runs: Sequence[Run]) -> Json:
    """The configuration that makes no row: it must be one value over all runs that are not excluded."""
    kept = [run for run in runs if run.state != "excluded"] or runs
    varying = [*spec["rows"], *spec.get("determined", [])]
    shared = {key: value for key, value in kept[0].configuration.items() if key not in varying}
    for key in shared:
        places = {compact(run.configuration[key]): run.where for run in reversed(kept)}
        if len(places) > 1:
            raise Refused("spec", "%s varies: %s" % (key, compact(places)), "Make it a row key")
    return shared


def numbers(column: Json, runs: Sequence[Run], key: str = "source") -> List[Number]:
    """The value of each run at a path that the column names; it must be a number."""
    values = [pointer(run.value, "$." + column[key]) for run in runs]
    for run, value in zip(runs, values):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Refused(run.where, "%s of column %s is no number" % (column[key], column["name"]))
    return values


def held(run: Run, path: str) -> Any:
    """What stands at a path of a run; of a series ({"columns", "rows"}) the values of a column."""
    owner, _, name = path.rpartition(".")
    holder = pointer(run.value, "$." + owner) if owner else None
    if isinstance(holder, dict) and name not in holder and name in holder.get("columns", []):
        return [row[holder["columns"].index(name)] for row in holder["rows"]]
    return pointer(run.value, "$." + path)


def curve(column: Json, run: Run) -> List[Tuple[Number, Number]]:
    """The points (x, y) of a series by x, without the rows that are skipped or hold a null."""
    points = list(zip(held(run, column["over"]), held(run, column["source"])))[column.get("skip", 0) :]
    return sorted((x, y) for x, y in points if x is not None and y is not None)


def theil_sen(column: Json, run: Run) -> Tuple[Number, Number, Number]:
    """Median of the slopes between all pairs of points, and the ends of its 95 % interval by ranks (Sen 1968)
    with the normal approximation of Kendall's S, wider by the resolution of y over the length of x."""
    points = curve(column, run)
    slopes = sorted((y - v) / (x - u) for at, (x, y) in enumerate(points) for u, v in points[:at])
    spread = 1.959963984540054 * math.sqrt(len(points) * (len(points) - 1) * (2 * len(points) + 5) / 18)
    rank = max(1, math.floor((len(slopes) - spread) / 2 + 0.5))
    step = column.get("resolution", 0) / (points[-1][0] - points[0][0])
    return median(slopes), slopes[rank - 1] - step, slopes[-rank] + step


def pair(found: Sequence[Run], base: Sequence[Run]) -> List[Tuple[List[Run], List[Run]]]:
    """The runs of each round beside the baseline's of the same round; excluded ones stand on neither side."""
    own, other = {}, {}  # type: Tuple[Dict[int, List[Run]], Dict[int, List[Run]]]
    for side, runs in ((own, found), (other, base)):
        for run in runs:
            if run.state != "excluded":
                same = side.setdefault(run.value.get("round", run.value["repetition"]), [])
                if same and ("round" not in run.value or same[0].sha256 != run.sha256):
                    raise Refused(run.where, "the same repetition as %s" % same[0].where)
                same.append(run)
    if own and other and set(own) != set(other):
        raise Refused("row " + found[0].row, "a round has no partner in row %s" % base[0].row)
    return [(runs, other[number]) for number, runs in own.items()] if other else []


def ratios(column: Json, pairs: Sequence[Tuple[List[Run], List[Run]]]) -> List[Number]:
    """Of each round: source, or source / over, of its runs (of several the median) over its partner's."""

    def value(runs: List[Run]) -> Number:
        values = numbers(column, runs)
        over = numbers(column, runs, "over") if column.get("over") else []
        return median([above / below for above, below in zip(values, over)] if over else values)

    return [value(runs) / value(partners) for runs, partners in pairs]


# c: the column, r: its runs, x: added histograms or ratios of pairs. The order of operations is part of it:
# one median or exact sum, then a division, then the unit factor.
AGGREGATES = {
    "run_count": lambda c, r, x: len(r),
    "median_of_runs": lambda c, r, x: median(numbers(c, r)),
    "max_of_runs": lambda c, r, x: max(numbers(c, r)),
    "min_of_runs": lambda c, r, x: min(numbers(c, r)),
    "total": lambda c, r, x: total(numbers(c, r)),
    "only_value": lambda c, r, x: max(numbers(c, r)),
    "ratio_of_totals": lambda c, r, x: total(numbers(c, r)) / total(numbers(c, r, "over")),
    "total_over_median": lambda c, r, x: total(numbers(c, r)) / len(r) / median(numbers(c, r, "over")),
    "pooled_percentile": lambda c, r, x: percentile(x, *map(int, c["percentile"].split("/"))),
    "median_of_paired_ratios": lambda c, r, x: median(x),
    "max_of_paired_ratios": lambda c, r, x: max(x),
    "min_of_paired_ratios": lambda c, r, x: min(x),
    "theil_sen_slope": lambda c, r, x: median([theil_sen(c, run)[0] for run in r]),
    "theil_sen_low": lambda c, r, x: min(theil_sen(c, run)[1] for run in r),
    "theil_sen_high": lambda c, r, x: max(theil_sen(c, run)[2] for run in r),
}  # type: Dict[str, Any]


def cell(column: Json, found: Sequence[Run], base: Sequence[Run]) -> Json:
    """One cell of a row: exact value in the shown unit, text, number of runs, and where each value stands."""

    def absent(kind: str, text: str) -> Json:
        return {"absent": {"kind": kind, "reason": text}, "text": text, "n": 0, "sources": []}

    states = ("published", "failed") if column.get("include_failed") else ("published",)
    runs, pairs = [run for run in found if run.state in states], []  # type: Tuple[List[Run], List[Any]]
    kept = [run for run in found if run.state != "excluded"]
    if column.get("outcome"):
        runs = [run for run in kept if run.value.get("outcome") == column["outcome"]]
    if column.get("baseline"):
        pairs = pair(found, base)
        runs = list(dict.fromkeys(run for side in zip(*pairs) for same in side for run in same))  # each once
        if kept and not pairs:
            return absent("not_measured", "baseline not measured")
        failed = sum(any(run.state == "failed" for run in own + other) for own, other in pairs)
        if failed:
            return absent("failed", "failed in %d of %d pairs" % (failed, len(pairs)))
    if not found:
        return absent("not_measured", "not measured")
    grown = sum(run.value.get("outcome") == "overloaded" for run in kept)  # the queue grew for the whole run
    all_grown = not runs and grown == len(kept)
    if grown and column["aggregate"] != "run_count" and (all_grown or column.get("percentile")):
        said = "overloaded in %d of %d runs" % (grown, len(kept))
        return absent("failed", "overloaded" if grown == len(kept) else said)
    if not runs and column["aggregate"] != "run_count":
        ends = "/".join({str(run.value.get("outcome")) for run in kept})
        word = {"killed": "killed", "timed_out": "timed out"}.get(ends, "failed")
        return absent("failed", "all runs " + word) if kept else absent("skipped", "all runs excluded")
    paths = [column[key] for key in ("source", "over", "samples") if column.get(key)]
    lacking = sum(any(held(run, path) is None for path in paths) for run in runs)
    if lacking:
        return absent("not_measured", "not measured in %d of %d runs" % (lacking, len(runs)))
    if column["aggregate"].startswith("theil_sen"):
        counts, paths = [len(curve(column, run)) for run in runs], [paths[0].rpartition(".")[0]]
        if not 8 <= min(counts) <= max(counts) <= 2000:
            few = "needs 8 points, has %d" % min(counts)
            return absent("refused", few if min(counts) < 8 else "takes 2000 points, has %d" % max(counts))
    result, digits, extra = {"n": len(pairs or runs)}, column.get("significant"), None  # type: Tuple[Json, Any, Any]
    if column["aggregate"] == "pooled_percentile":
        extra = merge([pointer(run.value, "$." + column["source"]) for run in runs], runs[0].where)
    if column.get("percentile"):
        a, b = map(int, column["percentile"].split("/"))
        result["samples"] = extra["count"] if extra else min(numbers(column, runs, "samples"))
        if result["samples"] * (b - a) < 10 * b:
            return absent("refused", "needs %d samples, has %d" % (-(-10 * b // (b - a)), result["samples"]))
    if column["aggregate"] == "only_value" and len(set(map(compact, numbers(column, runs)))) > 1:
        raise Refused(runs[0].where, "column %s has several values" % column["name"])
    try:
        extra = ratios(column, pairs) if pairs else extra
        exact = scaled(AGGREGATES[column["aggregate"]](column, runs, extra), *column["factor"])
        text = fixed(exact, column["places"]) if digits is None else significant(exact, digits)
    except MISFITS as error:
        raise Refused(runs[0].where, "column %s: %s" % (column["name"], error)) from error
    result.update(exact=exact, text="≤ " + text if column.get("percentile") else text)
    below = ["." + path for path in paths if path != column.get("samples")] or [""]
    result["sources"] = [
        {"sha256": run.sha256, "pointer": run.pointer + end} for end in below for run in runs
    ]
    return result


def recompute(spec: Json, files: List[Tuple[str, bytes]], into: Any = None) -> Json:
    """The table from raw bytes: {"rows", "ledger", "files", "constants", "digest"}. Raises Refused.

    ``into``: a list that takes the runs."""
    try:
        for one in spec["columns"]:
            a, b = map(int, one.get("percentile", "1/2").split("/"))
            rounding = (one.get("places") is None) != (one.get("significant") is None)
            if one["aggregate"] not in AGGREGATES or not 0 < a < b or not rounding:
                raise Refused("spec", "unknown rule: %s" % compact(one), code=MISUSE)
        runs, warmups = load(spec, files)
        into = [] if into is None else into
        into.extend(runs)
        groups = group(spec, runs)
        by_id, rows = {row: found for row, _, found in groups}, []  # type: Tuple[Dict[str, List[Run]], List[Json]]
        for row, key, found in groups:
            bases = [by_id[one["baseline"]] if one.get("baseline") else [] for one in spec["columns"]]
            cells = {one["name"]: cell(one, found, base) for one, base in zip(spec["columns"], bases)}
            rows.append({"id": row, "key": key, "cells": cells})
        ledger = {state: sum(run.state == state for run in runs) for state in LEDGER[1:4]}  # type: Json
        missing = sum(wanted(spec, row) for row, _, found in groups if not found)
        ledger.update(found=len(runs), closes=sum(ledger.values()) == len(runs), duplicate=0, warmups=warmups)
        if spec["schema"] != "report-spec/1.0":
            ledger["failed_as_planned"] = sum(run.state == "failed" and run.planned for run in runs)
        ledger.update(expected=len(runs) + missing, missing=missing, excluded=spec.get("exclude") or [])
        hashed = [{"name": name, "sha256": hashlib.sha256(data).hexdigest()} for name, data in sorted(files)]
        table = {"rows": rows, "ledger": ledger, "files": hashed, "constants": constants(spec, runs)}
        return dict(table, digest=digest(spec, table))
    except MISFITS as error:
        raise Refused("spec", "does not fit the files: %r" % error) from error


def wanted(spec: Json, row: str) -> int:
    """How many runs the spec declares for a row."""
    return int(spec["repetitions"][row] if isinstance(spec["repetitions"], dict) else spec["repetitions"])


def group(spec: Json, runs: Sequence[Run]) -> List[Tuple[str, Json, List[Run]]]:
    """(row id, key, runs) in the order of the table; every row has as many runs as declared, or none."""
    keys = [{name: key[name] for name in spec["rows"]} for key in spec.get("expected_rows") or []]
    rows = {row_id(key): (key, []) for key in keys}  # type: Dict[str, Any]
    for run in runs:
        if keys and run.row not in rows:
            raise Refused(run.where, "row %s is not expected" % run.row, "Leave the file out")
        rows.setdefault(run.row, (run.key, []))[1].append(run)
    for row, (_, found) in rows.items():
        if found and len(found) != wanted(spec, row):
            counts = (row, len(found), wanted(spec, row))
            raise Refused(found[0].name, "row %s has %d runs, %d are declared" % counts)
        for name in spec.get("determined", []):
            if len({compact(run.configuration[name]) for run in found if run.state != "excluded"}) > 1:
                raise Refused(found[0].name, "%s varies within row %s" % (name, row), "Make it a row key")
    names = sorted(rows, key=lambda row: [order(value) for value in rows[row][0].values()])
    return [(row, rows[row][0], rows[row][1]) for row in names]


def order(value: Any) -> Tuple[int, Number, str]:
    """Rows stand by null, booleans, numbers, text, the rest; what is equal then stands by its spelling."""
    rank = {type(None): 0, bool: 1, int: 2, float: 2, str: 3}.get(type(value), 4)
    return (rank, value if rank == 2 else 0, value if rank == 3 else compact(value))


def digest(spec: Json, table: Json) -> str:
    """SHA-256 over raw files, rules and cells, never over prose: what a frozen report must keep."""
    rules = {key: spec.get(key) for key in ("rows", "repetitions", "expected_rows", "exclude")}  # type: Json
    rules.update((key, spec[key]) for key in ("determined",) if key in spec)
    rules["columns"] = [{key: column.get(key) for key in RULE} for column in spec["columns"]]
    for rule, column in zip(rules["columns"], spec["columns"]):
        rule.update((key, column[key]) for key in LATER_RULE if key in column)
    cells = {r["id"]: {k: [c.get("exact"), c["text"]] for k, c in r["cells"].items()} for r in table["rows"]}
    whole = {"data": sorted(one["sha256"] for one in table["files"]), "rules": rules, "cells": cells}
    return hashlib.sha256(compact(whole).encode("utf-8")).hexdigest()


def compare(report: Json, spec: Json, table: Json) -> List[str]:
    """Every difference between a published report and the recount, one line each."""
    sides = []  # type: List[Dict[str, str]]
    for one, files, rules in ((report, report["data"], report["spec"]), (table, table["files"], spec)):
        found = {"spec": rules, "digest": one["digest"], "row ids": [row["id"] for row in one["rows"]]}  # type: Json
        found.update(("file %s" % file["sha256"], "present") for file in files)
        found.update(("ledger %s" % key, one["ledger"].get(key)) for key in LEDGER)
        found.update(("constant %s" % key, value) for key, value in one["constants"].items())
        for row in one["rows"]:
            for name, shown in row["cells"].items():
                place = "%s:%s " % (row["id"], name)
                found.update((place + key, shown.get(key)) for key in "text exact n samples absent".split())  # noqa: SIM905
                found[place + "sources"] = sorted([at["sha256"], at["pointer"]] for at in shown["sources"])
        sides.append({key: compact(value) for key, value in found.items()})
    pairs = [(name, *(side.get(name, "nothing") for side in sides)) for name in sorted(set().union(*sides))]
    return ["%s: the report says %s, the recount %s" % pair for pair in pairs if pair[1] != pair[2]]


def lines_of(spec: Json, table: Json) -> List[str]:
    """File hashes, row keys, what is constant, the rule of each column, the table and the ledger."""
    rules = [
        {key: column[key] for key in (*RULE, *LATER_RULE) if key in column} for column in spec["columns"]
    ]
    names = [column["name"] for column in spec["columns"]]
    texts = [[row["id"]] + [row["cells"][name]["text"] for name in names] for row in table["rows"]]
    widths = [max(map(len, column)) for column in zip(["row", *names], *texts)]
    return [
        *("file   %s  sha256 %s" % (one["name"], one["sha256"]) for one in table["files"]),
        "rows   %s; runs of each: %s" % (", ".join(spec["rows"]), compact(spec["repetitions"])),
        *("const  %s = %s" % (key, compact(value)) for key, value in table["constants"].items()),
        *("rule   " + compact(rule) for rule in rules),
        "round  half up, on the shortest decimal that reads back as the double",
        *("  ".join(map(str.rjust, line, widths)) for line in (["row", *names], *texts)),
        "ledger "
        + ", ".join(
            "%s %s" % (key, compact(table["ledger"][key])) for key in LEDGER if key in table["ledger"]
        ),
        "digest " + table["digest"],
    ]


def inputs(paths: Sequence[str], report: str) -> Tuple[Json, Any, List[Tuple[str, bytes]]]:
    """(spec, report or ..., raw files) from the words of the command line; a zip is read in memory."""
    try:
        held = {path: Path(path).read_bytes() for path in [*paths, report] if path}
        if zipfile.is_zipfile(paths[0]):
            if len(held) > 1:
                raise Refused(paths[0], "a bundle stands alone", "Give the zip only", MISUSE)
            with zipfile.ZipFile(paths[0]) as bundle:
                names, size = bundle.namelist(), sum(one.file_size for one in bundle.infolist())
                if len(set(names)) != len(names) or size > MAX_BYTES:
                    raise zipfile.BadZipFile("a name appears twice, or it is too large")
                held = {name: bundle.read(name) for name in names if not name.endswith("/")}
            paths, report = ["spec.json", *(name for name in held if name[:5] == "data/")], "report.json"
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise Refused(paths[0], "not a readable bundle (%s)" % error, code=UNREADABLE) from error
    except OSError as error:
        raise Refused(str(error.filename), str(error.strerror), "Name what can be read", MISUSE) from error
    published = read_json(held[report], report) if report else ...
    return read_json(held[paths[0]], paths[0]), published, [(name, held[name]) for name in paths[1:]]


def main(arguments: Sequence[str]) -> int:
    """Recounts and prints; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("paths", nargs="+", metavar="PATH", help="SPEC.json FILE... or BUNDLE.zip")
    parser.add_argument("--report", default="", help="published NAME.json to compare every cell with")
    parser.add_argument("--json", action="store_true", help="print the recomputed table as JSON")
    options = parser.parse_args(arguments)
    getattr(sys.stdout, "reconfigure", lambda **_: None)(encoding="utf-8")
    try:
        spec, report, files = inputs(options.paths, options.report)
        table = recompute(spec, files)
        differences = [] if report is ... else compare(report, spec, table)
    except (Refused, *MISFITS) as error:
        stop = error if isinstance(error, Refused) else Refused("report", "is none: %r" % error, code=MISUSE)
        print(re.sub(ORDERS, "?", str(stop)), file=sys.stderr)  # no name orders a terminal or a CI log about
        return stop.code
    if options.json:
        print(json.dumps(dict(table, differences=differences), indent=1, ensure_ascii=False))
    else:
        end = "%d cells recounted from %d files, " % (len(table["rows"]) * len(spec["columns"]), len(files))
        end += "nothing to compare with" if report is ... else "%d differences" % len(differences)
        lines = [*lines_of(spec, table), *differences, end]
        print("\n".join(re.sub(ORDERS, "?", line) for line in lines))
    return DIFFERS if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
