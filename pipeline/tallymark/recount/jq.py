"""One ``jq`` command that gives the exact value of a cell: a check without any code of ours.

jq computes in IEEE doubles, as the recount does, in the same order of operations. Its ``add`` loses digits of
floats, so a total of floats is added by Shewchuk's algorithm, as ``math.fsum`` does it.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from tallymark.recount import recount as script
from tallymark.recount.published import Report
from tallymark.recount.reference import Unresolved

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MEDIAN = "sort | (length / 2 | floor) as $m | if length % 2 == 1 then .[$m] else (.[$m - 1] + .[$m]) / 2 end"
_SIMPLE = {
    "run_count": "length",
    "median_of_runs": _MEDIAN,
    "max_of_runs": "max",
    "min_of_runs": "min",
    "only_value": "unique | .[0]",
}
# Partial sums that do not overlap; then their sum, rounded once (half to even where the next one decides).
_FSUM = (
    "reduce .[] as $x ([]; reduce .[] as $p ([$x, []]; (.[0] + $p) as $s"
    " | (if (.[0] | fabs) < ($p | fabs) then .[0] - ($s - $p) else $p - ($s - .[0]) end) as $e"
    " | [$s, .[1] + [$e | select(. != 0)]]) | .[1] + [.[0]])"
    " | reduce (.[:-1] | reverse[]) as $y ({h: (.[-1] // 0), l: 0, n: 0};"
    " if .l == 0 then (.h + $y) as $s | {h: $s, l: ($y - ($s - .h)), n: 0}"
    " elif .n == 0 then .n = $y else . end)"
    " | (.h + .l * 2) as $s | if .l != 0 and .n != 0 and (.l > 0) == (.n > 0) and $s - .h == .l * 2"
    " then $s else .h end"
)
_PAIRED = {
    "median_of_paired_ratios": "median",
    "max_of_paired_ratios": "max",
    "min_of_paired_ratios": "min",
}
# Bucket i of layout log-linear/7 ends at i below 128, else at low + 2^s - 1 with s = floor(i / 128) - 1.
_PERCENTILE = (
    "(map(.count) | add) as $n | ([1, (({a} * $n + {rest}) / {b} | floor)] | max) as $k"
    " | (map(.max_ns | numbers) | max) as $max"
    " | [.[].buckets[]] | group_by(.[0]) | map([.[0][0], (map(.[1]) | add)])"
    " | reduce .[] as $b ({{seen: 0, at: null}};"
    " if .at == null and .seen + $b[1] >= $k then .at = $b[0] else . end | .seen += $b[1])"
    " | .at | (if . < 128 then . else ((. / 128 | floor) - 1) as $s"
    " | (. % 128 + 128) * pow(2; $s) + pow(2; $s) - 1 end) | [., $max] | min"
)


# Points by x; slopes between all pairs, sorted; the rank of the ends, after Sen; the step of the resolution.
_SLOPES = (
    "(.columns | index({x})) as $x | (.columns | index({y})) as $y"
    " | [.rows[{skip}:][] | [.[$x], .[$y]] | select(all(. != null))] | sort as $p | ($p | length) as $n"
    " | [range($n) as $i | range($i) as $j | ($p[$i][1] - $p[$j][1]) / ($p[$i][0] - $p[$j][0])] | sort as $s"
    " | ([1, ((($s | length) - 1.959963984540054 * ($n * ($n - 1) * (2 * $n + 5) / 18 | sqrt)) / 2 + 0.5"
    " | floor)] | max) as $k | ({resolution} / ($p[$n - 1][0] - $p[0][0])) as $step | {end}"
)
_ENDS = {
    "theil_sen_slope": (f"$s | {_MEDIAN}", _MEDIAN),
    "theil_sen_low": ("$s[$k - 1] - $step", "min"),
    "theil_sen_high": ("$s[($s | length) - $k] + $step", "max"),
}


def of_cell(report: Report, row: str, column: str) -> str:
    """The command for one cell of a published report, to be run in the root of the site.

    Unresolved: there is no such cell, or the cell is absent and has no value to compute.
    """
    cells = report.row(row)["cells"]
    if column not in cells:
        raise Unresolved(f"report {report.name} has no column {column!r}")
    if "exact" not in cells[column]:
        raise Unresolved(f"the cell {row}:{column} is absent: {cells[column]['text']}")
    digests = {run.sha256 for run in report.sources(row, column)}
    files = [document.path for document in report.data if document.sha256 in digests]
    excluded = [
        (document.path, entry["pointer"])
        for entry in report.spec.get("exclude") or []
        for document in report.data
        if document.sha256 == entry["sha256"] and document.path in files
    ]
    rule = report.columns[column]
    paths = [rule[key] for key in ("source", "over") if key in rule]
    values = [script.pointer(run.value, f"$.{path}") for run in report.sources(row, column) for path in paths]
    floats = any(isinstance(value, float) for value in values)
    return line(report.spec, rule, report.row(row)["key"], files, excluded, floats=floats)


def line(
    spec: Mapping[str, Any],
    column: Mapping[str, Any],
    key: Mapping[str, Any],
    files: Sequence[str],
    excluded: Sequence[tuple[str, str]] = (),
    *,
    floats: bool = False,
) -> str:
    """The command for one cell.

    ``spec`` and ``column`` as in the resolved spec, ``key`` the row's values, ``files`` the documents that
    hold its runs, ``excluded`` (file, ``$.runs[i]``) of the runs that the spec leaves out; ``floats`` where
    not all values of source and over are integers.
    """
    states = [f".outcome == {_literal(column.get('outcome') or 'completed')}"]
    states = [] if column.get("include_failed") else states
    for file, pointer in excluded:
        index = pointer.removeprefix("$.runs[").removesuffix("]")
        states.append(f"(input_filename == {_literal(file)} and $i == {index} | not)")
    keys = {one["name"]: one for one in spec["config_keys"]}
    own = [f"{_config(keys[name])} == {_literal(value)}" for name, value in key.items()]
    if column.get("baseline"):
        names = _key_of(column["baseline"], spec["rows"])
        base = [f"{_config(keys[name])} == {_literal(value)}" for name, value in names.items()]
        program = _paired(column, states, " and ".join(own), " and ".join(base), bool(excluded))
    else:
        program = f"[{_runs([*states, *own], bool(excluded))}{_taken(column)}] | {_rule(column, floats)}"
    numerator, denominator = column["factor"]
    scale = f" | . * {numerator}" if numerator != 1 else ""
    scale += f" | . / {denominator}" if denominator != 1 else ""
    return shlex.join(["jq", "-n", program + scale, *files])


def _runs(conditions: Sequence[str], numbered: bool) -> str:
    """The stream of the runs that fulfil all conditions; ``$file`` and ``$i`` are bound where used."""
    if numbered:
        runs = "inputs | . as $file | .runs | to_entries[] | .key as $i | .value"
    elif any("$file" in one for one in conditions):
        runs = "inputs | . as $file | .runs[]"
    else:
        runs = "inputs.runs[]"
    return f"{runs} | select({' and '.join(conditions)})" if conditions else runs


def _paired(column: Mapping[str, Any], states: Sequence[str], own: str, base: str, numbered: bool) -> str:
    """The ratio of each round to the baseline's runs of the same round, then the rule over the ratios."""
    value = _path(column["source"]) + (f" / {_path(column['over'])}" if column.get("over") else "")
    sides = f"{{own: ({own}), base: ({base}), at: (.round // .repetition), value: ({value})}}"
    runs = f"[{_runs([*states, f'({own} or {base})'], numbered)} | {sides}]"
    side = "([$all[] | select(.{} and .at == $at) | .value] | median)"
    ratios = (
        f"[[.[] | select(.own) | .at] | unique[] | . as $at | {side.format('own')} / {side.format('base')}]"
    )
    return f"def median: {_MEDIAN}; {runs} | . as $all | {ratios} | {_PAIRED[column['aggregate']]}"


def _key_of(row: str, names: Sequence[str]) -> dict[str, Any]:
    """The key values in a row id such as ``tasks=1000,agents=100``."""
    key: dict[str, Any] = {}
    at = 0
    for name in names:
        value, at = json.JSONDecoder().raw_decode(row, at + len(name) + 1)
        key[name] = value
        at += 1  # the comma
    return key


def _config(key: Mapping[str, Any]) -> str:
    """``$.runs[].agents`` is read off the run, ``$.manifest.build`` off its file; a key that older files lack
    with its default.
    """
    pointer = key["pointer"]
    of_run = pointer.removeprefix("$.runs[].")
    path = _path(of_run) if of_run != pointer else f"$file{_path(pointer.removeprefix('$.'))}"
    return f"({path} // {_literal(key['default_before'])})" if "default_before" in key else path


def _path(dotted: str) -> str:
    return "".join(
        f".{part}" if _PLAIN.fullmatch(part) else f".[{_literal(part)}]" for part in dotted.split(".")
    )


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _taken(column: Mapping[str, Any]) -> str:
    """What of each run goes into the aggregate."""
    if column["aggregate"] == "run_count":
        return " | 1"
    if column["aggregate"] in _ENDS:
        owner, _, source = column["source"].rpartition(".")
        _, _, over = column["over"].rpartition(".")
        slope = _SLOPES.format(
            x=_literal(over),
            y=_literal(source),
            skip=column.get("skip", 0),
            resolution=column.get("resolution", 0),
            end=_ENDS[column["aggregate"]][0],
        )
        return f" | {_path(owner)} | {slope}"
    if column.get("over"):
        return f" | [{_path(column['source'])}, {_path(column['over'])}]"
    return f" | {_path(column['source'])}"


def _rule(column: Mapping[str, Any], floats: bool) -> str:
    aggregate = column["aggregate"]
    if aggregate in _SIMPLE:
        return _SIMPLE[aggregate]
    if aggregate in _ENDS:
        return _ENDS[aggregate][1]
    define, total = (f"def total: {_FSUM}; ", "total") if floats else ("", "add")
    if aggregate == "total":
        return define + total
    if aggregate == "ratio_of_totals":
        return f"{define}(map(.[0]) | {total}) / (map(.[1]) | {total})"
    if aggregate == "total_over_median":
        return f"{define}(map(.[0]) | {total}) / length / (map(.[1]) | {_MEDIAN})"
    if aggregate == "pooled_percentile":
        a, b = (int(part) for part in column["percentile"].split("/"))
        return _PERCENTILE.format(a=a, b=b, rest=b - 1)
    raise Unresolved(f"no jq line is known for the aggregate {aggregate!r}")
