#!/usr/bin/env python3
"""Recount a published table from its raw files: one file, standard library only, Python 3.8 or newer.

    python3 recount.py NAME.spec.json FILE...                       the table, from the files named here
    python3 recount.py NAME.spec.json FILE... --report NAME.json    ... and every cell against the report
    python3 recount.py BUNDLE.zip                                   spec, report and raw files in one zip

Prints the SHA-256 of each file, the keys that make the rows, the rule of each column and the table. Stops at
the first odd thing. Exit codes: 0 agrees; 1 differs, or the files do not fit the spec; 2 wrong call or spec;
5 a file is not strict JSON. Writes nothing, fetches nothing, and shares no code with the program that made
the pages: the two agree only if both are right.
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
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any, Dict, List, Sequence, Tuple, Union

Number = Union[int, float]
Json = Dict[str, Any]
DIFFERS, MISUSE, UNREADABLE = 1, 2, 5
MAX_FILE_BYTES, MAX_TOTAL_BYTES, MAX_INTEGER = 512 * 2**20, 2 * 2**30, 2**53 - 1
MISFITS = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)
LAYOUT = "log-linear/7"
RULE = ("name", "source", "over", "aggregate", "percentile", "samples", "unit", "source_unit", "factor")
RULE += ("places", "significant", "include_failed")  # type: ignore[assignment]
LEDGER = ("found", "published", "failed", "excluded", "duplicate", "expected", "missing", "warmups", "closes")


class Refused(Exception):  # noqa: N818 - the name reads as the verdict
    """Stops the recount: where, what is wrong, what to do; ``code`` is the exit code."""

    def __init__(self, where: str, problem: str, do: str, code: int = DIFFERS) -> None:
        super().__init__("%s: %s. %s." % (where, problem, do))
        self.where, self.problem, self.do, self.code = where, problem, do, code


# --- strict JSON ---


def read_json(data: bytes, name: str) -> Any:
    """Strict JSON: UTF-8, no BOM, no duplicate key, no NaN or infinity, no integer beyond 2^53 - 1."""
    try:
        if len(data) > MAX_FILE_BYTES or data[:3] == b"\xef\xbb\xbf":
            raise ValueError("too large, or starts with a byte order mark")
        text = data.decode("utf-8")
        hooks = {"object_pairs_hook": _object, "parse_constant": _number}  # type: Any
        value = json.loads(text, parse_float=_number, parse_int=_number, **hooks)
        if "\\ud" in text.lower():
            compact(value).encode("utf-8")  # a lone surrogate does not encode
        return value
    except (ValueError, RecursionError) as error:
        problem = "not strict JSON: %s" % str(error)[:200]
        raise Refused(name + "::$", problem, "Restore the published file", UNREADABLE) from None


def _object(pairs: List[Tuple[str, Any]]) -> Json:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("duplicate key %s" % max(names, key=names.count))
    return dict(pairs)


def _number(text: str) -> Number:
    whole = text.lstrip("-").isdigit()
    value = int(text) if whole and len(text) < 18 else float(text)
    if not math.isfinite(value) or whole and abs(value) > MAX_INTEGER:
        raise ValueError("%s is no finite number or is beyond 2^53 - 1" % text[:40])
    return value


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


# --- numbers ---


def _decimal(value: Number) -> Decimal:
    if isinstance(value, bool) or not math.isfinite(value):
        raise Refused(repr(value), "not a finite number", "Restore the published file")
    return Decimal(repr(value))


def fixed(value: Number, places: int) -> str:
    """Half up to ``places`` decimals on the shortest decimal that reads back; no exponent, no -0."""
    with localcontext() as context:
        context.prec = 800
        rounded = _decimal(value).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    return format(rounded or abs(rounded), "f")


def significant(value: Number, digits: int) -> str:
    """Half up to ``digits`` significant digits in fixed notation; zero is "0"."""
    if value == 0:
        return "0"
    with localcontext() as context:
        context.prec, context.rounding = digits, ROUND_HALF_UP
        rounded = +_decimal(value)  # 9.996 becomes 10.0: one place fewer than 9.99
        context.prec = 800
        return format(rounded.quantize(Decimal(1).scaleb(rounded.adjusted() + 1 - digits)), "f")


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


# --- histograms ---


def bucket_high(index: int) -> int:
    """Highest value of a bucket of log-linear/7: exact below 128, then 128 buckets an octave."""
    shift = index // 128 - 1
    return index if index < 128 else ((index % 128 | 128) << shift) + (1 << shift) - 1


def merge(histograms: Sequence[Json], where: str = "histogram") -> Json:
    """Adds histograms of one layout exactly: {"count", "max_ns", "buckets": {index: count}}."""
    buckets = {}  # type: Dict[int, int]
    for one in histograms:
        layout = (one["layout"], one["unit"], one["sample_every"])
        if layout != (LAYOUT, "ns", histograms[0]["sample_every"]):
            raise Refused(where, "cannot add a histogram of layout %s, %s, %s" % layout, "Take them apart")
        places = [index for index, _ in one["buckets"]]
        if places != sorted(set(places)) or sum(count for _, count in one["buckets"]) != one["count"]:
            raise Refused(where, "buckets do not add up to their count", "Restore the published file")
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


def quantile(text: str) -> Tuple[int, int]:
    """The text "99/100" as two integers, strictly between 0 and 1."""
    a, b = map(int, text.split("/")) if re.match(r"^[0-9]{1,9}/[0-9]{1,9}$", text) else (0, 0)
    if not 0 < a < b:
        raise Refused(text, "not a percentile", 'Write it like "99/100"', MISUSE)
    return a, b


# --- from files to runs ---


class Run:
    """One record: where it stands, its complete configuration, and what becomes of it in the ledger."""

    def __init__(self, name: str, sha256: str, document: Json, index: int, spec: Json) -> None:
        self.name, self.sha256, self.value = name, sha256, document["runs"][index]
        self.pointer = "$.runs[%d]" % index
        self.where = "%s::%s" % (name, self.pointer)
        self.configuration = {}  # type: Json
        for key in spec["config_keys"]:
            owner, _, last = key["pointer"].replace("[]", "[%d]" % index).rpartition(".")
            holder = pointer(document, owner)
            if not isinstance(holder, dict) or last not in holder:
                raise Refused("%s::%s.%s" % (name, owner, last), "missing", "Restore the published file")
            self.configuration[key["name"]] = holder[last]
        self.key = {key: self.configuration[key] for key in spec["rows"]}
        self.row = row_id(spec, self.key)
        self.state = "published" if self.value.get("outcome") == "completed" else "failed"


def row_id(spec: Json, key: Json) -> str:
    """``tasks=1000000,agents=100``: the row keys in the order of the spec, values as JSON."""
    return ",".join("%s=%s" % (name, compact(key[name])) for name in spec["rows"])


def load(spec: Json, files: Sequence[Tuple[str, bytes]]) -> Tuple[List[Run], int]:
    """All runs by file name and index, and the number of warm-ups. Stops at mixed kinds and duplicates."""
    runs, seen, warmups = [], {}, 0  # type: Tuple[List[Run], Dict[str, str], int]
    for name, data in sorted(files):
        sha256, document = hashlib.sha256(data).hexdigest(), read_json(data, name)
        if pointer(document, "$.schema") != spec["evidence_schema"]:
            problem = "%s instead of %s" % (pointer(document, "$.schema"), spec["evidence_schema"])
            raise Refused(name + "::$.schema", problem, "Name the raw files of the report")
        if pointer(document, "$.execution.complete") is not True:
            raise Refused(name + "::$.execution.complete", "not true", "Finish the execution or leave it out")
        if not isinstance(document["runs"], list):
            raise Refused(name + "::$.runs", "not a list", "Restore the published file")
        own = [Run(name, sha256, document, index, spec) for index in range(len(document["runs"]))]
        marks = [(name, sha256), (name, pointer(document, "$.execution.id"))]
        marks += [(name, pointer(document, "$.source.sha256"))]
        for where, mark in marks + [(run.where, run.value.get("run_id")) for run in own]:
            if mark is not None and mark in seen:
                raise Refused(where, "duplicate of %s (%s)" % (seen[mark], mark), "Leave one of the two out")
            seen[mark] = where
        follow_plan(name, document, own)
        runs, warmups = runs + own, warmups + len(document.get("warmups", []))
    if not runs:
        raise Refused("recount.py", "no run in %d files" % len(files), "Name the raw files", MISUSE)
    for entry in spec.get("exclude") or []:
        named = [run for run in runs if (run.sha256, run.pointer) == (entry["sha256"], entry["pointer"])]
        if not named:
            raise Refused(entry["sha256"], "has no %s to exclude" % entry["pointer"], "Check the files")
        named[0].state = "excluded"
    return runs, warmups


def follow_plan(name: str, document: Json, runs: Sequence[Run]) -> None:
    """Where a plan is recorded, each entry was run once and with the configuration that was planned."""
    plan = {entry["index"]: entry for entry in document["execution"].get("plan") or []}
    done = {run.value.get("index"): run for run in runs}
    if not plan and "plan" not in document["execution"]:
        return
    if sorted(plan) != sorted(done) or len(done) != len(runs):
        problem = "plans runs %s, the file holds %s" % (
            sorted(plan),
            [run.value.get("index") for run in runs],
        )
        raise Refused(name + "::$.execution.plan", problem, "Restore the published file")
    for index, entry in plan.items():
        planned = dict(entry["configuration"], repetition=entry["repetition"])
        ran = dict(done[index].configuration, repetition=done[index].value.get("repetition"))
        for key in planned:
            if compact(planned[key]) != compact(ran.get(key)):
                problem = "%s is %s, the plan says %s" % (key, compact(ran.get(key)), compact(planned[key]))
                raise Refused(done[index].where, problem, "Restore the published file")


def constants(spec: Json, runs: Sequence[Run]) -> Json:
    """The configuration that makes no row: it must be one value over all runs that are not excluded."""
    kept = [run for run in runs if run.state != "excluded"]
    for key in kept[0].configuration if kept else []:
        for run in kept:
            here, first = compact(run.configuration[key]), compact(kept[0].configuration[key])
            if key not in spec["rows"] and here != first:
                problem = "%s varies: %s in %s, %s here" % (key, first, kept[0].where, here)
                raise Refused(run.where, problem, "Make it a row key or take the files apart")
    return (
        {key: value for key, value in kept[0].configuration.items() if key not in spec["rows"]}
        if kept
        else {}
    )


# --- cells ---


def numbers(column: Json, runs: Sequence[Run], source: str) -> List[Number]:
    """The source value of each run, which must be a number."""
    values = [pointer(run.value, "$." + source) for run in runs]
    for run, value in zip(runs, values):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            problem = "%s of column %s is no number" % (source, column["name"])
            raise Refused(run.where, problem, "Restore the published file")
    return values


SIMPLE = {"median_of_runs": median, "max_of_runs": max, "min_of_runs": min, "total": total}  # type: Any
SIMPLE["only_value"] = max
AGGREGATES = [*SIMPLE, "run_count", "ratio_of_totals", "total_over_median", "pooled_percentile"]


def aggregate(column: Json, runs: Sequence[Run]) -> Number:
    """The number of a cell in the unit of its source."""
    kind = column["aggregate"]
    if kind == "run_count":
        return len(runs)
    if kind == "pooled_percentile":
        return percentile(pooled(column, runs), *quantile(column["percentile"]))
    values = numbers(column, runs, column["source"])
    if kind == "only_value" and len(set(map(compact, values))) > 1:
        raise Refused(
            runs[0].where, "column %s has values %s" % (column["name"], values), "Take another rule"
        )
    if kind in SIMPLE:
        simple = SIMPLE[kind](values)  # type: Number
        return simple
    below = (total if kind == "ratio_of_totals" else median)(numbers(column, runs, column["over"]))
    if below == 0:
        raise Refused(runs[0].where, "column %s divides by 0" % column["name"], "Take another rule")
    return total(values) / below if kind == "ratio_of_totals" else total(values) / len(runs) / below


def pooled(column: Json, runs: Sequence[Run]) -> Json:
    """The histograms of the runs, added."""
    return merge([pointer(run.value, "$." + column["source"]) for run in runs], runs[0].where)


def absent(kind: str, text: str) -> Json:
    """A cell without a number, and why."""
    return {"absent": {"kind": kind, "reason": text}, "text": text, "n": 0, "sources": []}


def cell(column: Json, found: Sequence[Run]) -> Json:
    """One cell of a row: exact value in the shown unit, text, number of runs, and where each value stands."""
    runs = [
        r for r in found if r.state == "published" or column.get("include_failed") and r.state == "failed"
    ]
    if not found:
        return absent("not_measured", "not measured")
    if not runs and column["aggregate"] != "run_count":
        failed = any(run.state == "failed" for run in found)
        return absent("failed", "all runs failed") if failed else absent("skipped", "all runs excluded")
    paths = [column[key] for key in ("source", "over") if column.get(key)]
    needed = paths + [column[key] for key in ("samples",) if column.get(key)]
    lacking = sum(any(pointer(run.value, "$." + path) is None for path in needed) for run in runs)
    if lacking:
        return absent("not_measured", "not measured in %d of %d runs" % (lacking, len(runs)))
    sources = [(run.sha256, run.pointer + "." + path) for path in paths for run in runs]
    result = {"n": len(runs)}  # type: Json
    if column.get("percentile"):
        (a, b), samples = quantile(column["percentile"]), column.get("samples")
        result["samples"] = min(numbers(column, runs, samples)) if samples else pooled(column, runs)["count"]
        if result["samples"] * (b - a) < 10 * b:
            return absent("refused", "needs %d samples, has %d" % (-(-10 * b // (b - a)), result["samples"]))
    exact = scaled(aggregate(column, runs), *column["factor"])
    digits = column.get("significant")
    text = fixed(exact, column["places"]) if digits is None else significant(exact, digits)
    result.update(exact=exact, text="≤ " + text if column.get("percentile") else text)
    sources = sources or [(run.sha256, run.pointer) for run in runs]
    result["sources"] = [{"sha256": sha256, "pointer": place} for sha256, place in sources]
    return result


# --- the table ---


def recompute(spec: Json, files: List[Tuple[str, bytes]]) -> Json:
    """The table from raw bytes: {"rows", "ledger", "files", "constants", "digest"}. Raises Refused."""
    try:
        check_spec(spec)
        runs, warmups = load(spec, files)
        groups = group(spec, runs)
        rows = [
            {"id": row, "key": key, "cells": {one["name"]: cell(one, found) for one in spec["columns"]}}
            for row, key, found in groups
        ]
        ledger = {state: sum(run.state == state for run in runs) for state in LEDGER[1:4]}  # type: Json
        closes = sum(ledger.values()) == len(runs)
        expected = sum(repetitions(spec, row) for row, _, _ in groups)
        ledger.update(found=len(runs), expected=expected, missing=expected - len(runs), duplicate=0)
        ledger.update(excluded=spec.get("exclude") or [], warmups=warmups, closes=closes)
        hashed = [{"name": name, "sha256": hashlib.sha256(data).hexdigest()} for name, data in sorted(files)]
        table = {"rows": rows, "ledger": ledger, "files": hashed, "constants": constants(spec, runs)}
        return dict(table, digest=digest(spec, table))
    except MISFITS as error:
        raise Refused("spec", "does not fit the files: %r" % error, "Use the published files") from error


def check_spec(spec: Json) -> None:
    """Refuses a spec that this script does not understand completely."""
    unknown = sorted(set(spec["rows"]) - {key["name"] for key in spec["config_keys"]})
    for column in spec["columns"]:
        if column["aggregate"] not in AGGREGATES:
            unknown.append("aggregate %s" % column["aggregate"])
        if (column.get("places") is None) == (column.get("significant") is None):
            unknown.append("rounding of %s" % column["name"])
    if unknown:
        raise Refused("spec", "unknown %s" % ", ".join(unknown), "Use the published NAME.spec.json", MISUSE)


def repetitions(spec: Json, row: str) -> int:
    """How many runs the spec declares for a row."""
    declared = spec["repetitions"]
    return int(declared.get(row, 0) if isinstance(declared, dict) else declared)


def group(spec: Json, runs: Sequence[Run]) -> List[Tuple[str, Json, List[Run]]]:
    """(row id, key, runs) in the order of the table; every row has as many runs as declared, or none."""
    rows = {row_id(spec, key): (key, []) for key in spec.get("expected_rows") or []}  # type: Dict[str, Any]
    for run in runs:
        if spec.get("expected_rows") and run.row not in rows:
            raise Refused(run.where, "row %s is not expected" % run.row, "Leave the file out")
        rows.setdefault(run.row, (run.key, []))[1].append(run)
    for row, (_, found) in rows.items():
        if found and len(found) != repetitions(spec, row):
            problem = "row %s has %d runs, %d are declared" % (row, len(found), repetitions(spec, row))
            raise Refused(found[0].name, problem, "Name every raw file of the report once")
    names = sorted(rows, key=lambda row: [order(rows[row][0][name]) for name in spec["rows"]])
    return [(row, rows[row][0], rows[row][1]) for row in names]


def order(value: Any) -> Tuple[int, Number, str]:
    """Rows stand by null, booleans, numbers, text, the rest; what is equal then stands by its spelling."""
    if value is None or isinstance(value, bool):
        return (int(value is not None), 0, compact(value))
    if isinstance(value, (int, float)):
        return (2, value, compact(value))
    return (3, 0, value) if isinstance(value, str) else (4, 0, compact(value))


def digest(spec: Json, table: Json) -> str:
    """SHA-256 over raw files, rules and cells, never over prose: what a frozen report must keep."""
    rules = {key: spec.get(key) for key in ("rows", "repetitions", "expected_rows", "exclude")}
    rules["columns"] = [{key: column.get(key) for key in RULE} for column in spec["columns"]]
    cells = {r["id"]: {k: [c.get("exact"), c["text"]] for k, c in r["cells"].items()} for r in table["rows"]}
    whole = {"data": sorted(one["sha256"] for one in table["files"]), "rules": rules, "cells": cells}
    return hashlib.sha256(compact(whole).encode("utf-8")).hexdigest()


def compare(report: Json, spec: Json, table: Json) -> List[str]:
    """Every difference between a published report and the recount, one line each."""

    def facts(one: Json, files: List[Json], rules: Json) -> Dict[str, str]:
        found = {"file %s" % file["sha256"]: "present" for file in files}  # type: Json
        found.update({"spec": rules, "row ids": [row["id"] for row in one["rows"]], "digest": one["digest"]})
        found.update({"ledger %s" % key: one["ledger"].get(key) for key in LEDGER})
        found.update({"constant %s" % key: value for key, value in one["constants"].items()})
        for row in one["rows"]:
            for name, shown in row["cells"].items():
                place = "%s:%s " % (row["id"], name)
                found.update(
                    {place + key: shown.get(key) for key in ("text", "exact", "n", "samples", "absent")}
                )
                found[place + "sources"] = sorted([at["sha256"], at["pointer"]] for at in shown["sources"])
        return {key: compact(value) for key, value in found.items()}

    theirs, ours = facts(report, report["data"], report["spec"]), facts(table, table["files"], spec)
    return [
        "%s: the report says %s, the recount %s" % (key, theirs.get(key, "nothing"), ours.get(key, "nothing"))
        for key in sorted(set(theirs) | set(ours))
        if theirs.get(key) != ours.get(key)
    ]


# --- the command ---


def say(*lines: str) -> None:
    """Prints lines without passing control characters from a file on to the terminal."""
    for line in lines:
        print(re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", line))


def show(spec: Json, table: Json) -> None:
    """File hashes, row keys, what is constant, the rule of each column, the table and the ledger."""
    say(*("file   %s  sha256 %s" % (one["name"], one["sha256"]) for one in table["files"]))
    say("rows   %s; runs of each: %s" % (", ".join(spec["rows"]), compact(spec["repetitions"])))
    say(*("const  %s = %s" % (key, compact(value)) for key, value in table["constants"].items()))
    for column in spec["columns"]:
        say("rule   " + compact({key: column[key] for key in RULE if column.get(key) is not None}))
    say("round  half up, on the shortest decimal that reads back as the double")
    names = [column["name"] for column in spec["columns"]]
    lines = [["row"] + names]
    lines += [[row["id"]] + [row["cells"][name]["text"] for name in names] for row in table["rows"]]
    widths = [max(map(len, texts)) for texts in zip(*lines)]
    say("", *("  ".join(text.rjust(width) for text, width in zip(line, widths)) for line in lines), "")
    say("ledger " + ", ".join("%s %s" % (key, compact(table["ledger"][key])) for key in LEDGER))
    say("digest " + table["digest"])


def read_file(path: str) -> bytes:
    """The bytes of a file. Refused when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise Refused(path, str(error.strerror), "Name a file that can be read", MISUSE) from error


def read_bundle(path: str) -> Dict[str, bytes]:
    """The members of a zip by name, read in memory: nothing is unpacked to disk."""
    try:
        with zipfile.ZipFile(path) as bundle:
            members = [one for one in bundle.infolist() if not one.is_dir()]
            names = [one.filename for one in members]
            if len(set(names)) != len(names) or sum(one.file_size for one in members) > MAX_TOTAL_BYTES:
                raise ValueError("a name appears twice or it is too large")
            return {one.filename: bundle.read(one) for one in members}
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError) as error:
        problem = "not a readable bundle (%s)" % error
        raise Refused(path, problem, "Download it again", UNREADABLE) from error


def inputs(paths: Sequence[str], report: str) -> Tuple[Json, Json, List[Tuple[str, bytes]]]:
    """(spec, report or {}, raw files) from the words of the command line."""
    if zipfile.is_zipfile(paths[0]):
        if paths[1:] or report:
            raise Refused(paths[0], "a bundle stands alone", "Give the zip only", MISUSE)
        held = read_bundle(paths[0])
        files = [(name, held[name]) for name in held if name.startswith("data/")]
        texts = {name: held.get(name, b"null") for name in ("spec.json", "report.json")}
    else:
        files = [(path, read_file(path)) for path in paths[1:]]
        texts = {path: read_file(path) for path in (paths[0], report) if path}
    values = [read_json(data, name) for name, data in texts.items()]
    for name, value in zip(texts, values):
        if not isinstance(value, dict) or not value:
            raise Refused(name, "missing, or not a JSON object", "Download it again", MISUSE)
    return values[0], values[1] if len(values) > 1 else {}, files


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
        differences = compare(report, spec, table) if report else []
    except Refused as refused:
        print(refused, file=sys.stderr)
        return refused.code
    except MISFITS as error:
        print("report: does not fit the spec: %r. Use the published NAME.json." % error, file=sys.stderr)
        return MISUSE
    if options.json:
        print(json.dumps(dict(table, differences=differences), indent=1, ensure_ascii=False))
    else:
        show(spec, table)
        say(*differences)
        cells = sum(len(row["cells"]) for row in table["rows"])
        compared = (
            "%d differences from the report" % len(differences) if report else "no report to compare with"
        )
        say("%d cells recounted from %d files, %s" % (cells, len(files), compared))
    return DIFFERS if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
