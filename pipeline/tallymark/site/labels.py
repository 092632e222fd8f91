"""Short texts that several views share: unit labels, row labels, the machine and fixture of a report."""

from __future__ import annotations

from typing import Any

from tallymark.evidence import canonical
from tallymark.printable import printable as visible
from tallymark.site.report_data import ReportData
from tallymark.site.shown import Sentence, Shown, sourced, value_text, words

# How a unit reads beside a number; "1/s" as text would itself look like a number.
UNIT_LABELS = {
    "1": "",
    "ns": "ns",
    "us": "µs",
    "ms": "ms",
    "s": "s",
    "bytes": "bytes",
    "KiB": "KiB",
    "MiB": "MiB",
    "GiB": "GiB",
    "1/s": "per s",
    "1/min": "per min",
    "USD": "USD",
    "percent": "%",
    "permille": "‰",
    "ratio": "ratio",
}
_LABEL_LENGTH = 28


def row_values(report: ReportData, row: int) -> str:
    """The key values of a row, joined: the short name of the row."""
    return " / ".join(value_text(value) for value in report.rows[row]["key"].values())


def row_label(report: ReportData, row: int) -> Shown:
    """The short name of a row, cut for charts."""
    text = row_values(report, row)
    short = text if len(text) <= _LABEL_LENGTH else text[: _LABEL_LENGTH - 1] + "…"
    return Shown(short, f"row:{report.name}/{report.rows[row]['id']}|label")


def row_title(report: ReportData) -> str:
    """The titles of the row keys, in the order of ``row_values``."""
    return " / ".join(key_title(report, key) for key in report.spec["rows"])


def row_lines(report: ReportData, key: str) -> list[list[int]]:
    """The rows that agree in every key but ``key``, in table order: each list is one line of a chart."""
    found: dict[str, list[int]] = {}
    for at, row in enumerate(report.rows):
        others = {name: value for name, value in row["key"].items() if name != key}
        found.setdefault(canonical.compact(others), []).append(at)
    return list(found.values())


def line_label(report: ReportData, row: int, key: str) -> Shown:
    """The values of the other row keys: the short name of the line that a row is on."""
    values = report.rows[row]["key"].items()
    text = " / ".join(value_text(value) for name, value in values if name != key)
    short = text if len(text) <= _LABEL_LENGTH else text[: _LABEL_LENGTH - 1] + "…"
    return Shown(short, f"line:{report.name}/{report.rows[row]['id']}/{key}") if text else words("all rows")


def other_keys_title(report: ReportData, key: str) -> str:
    """The titles of the other row keys, in the order of ``line_label``."""
    return " / ".join(key_title(report, name) for name in report.spec["rows"] if name != key)


def key_title(report: ReportData, key: str) -> str:
    """What a reader is shown for a row key: the title that the spec gives it, else its name."""
    return visible(report.spec.get("row_titles", {}).get(key, key))


def key_head(report: ReportData, at: int) -> Shown:
    """The same for the row key at a place, with its reference: the head of its column."""
    key = report.spec["rows"][at]
    titled = key in report.spec.get("row_titles", {})
    below = f"$.row_titles.{key}" if titled else f"$.rows[{at}]"
    return Shown(key_title(report, key), f"spec:{report.name}/{below}")


def fixture(report: ReportData) -> Sentence:
    """Workers and machine of the data, for captions; what varies or was not recorded is said as such."""
    constants = report.value["constants"]
    parts: list[Shown] = []
    if "workers" in constants:
        parts += [
            words("; "),
            Shown(value_text(constants["workers"]), f"constant:{report.name}/workers"),
            words(" worker" if constants["workers"] == 1 else " workers"),
        ]
    if "machine" not in constants and "machine" not in _config_names(report):
        return (*parts, words("; simulated, in virtual time."))
    return (*parts, words("; machine: "), *machine_words(report, constants.get("machine")), words("."))


def _config_names(report: ReportData) -> list[str]:
    return [key["name"] for key in report.spec["config_keys"]]


def machine_words(report: ReportData, machine: Any) -> Sentence:
    """The machine in a few words: CPU model and cores."""
    if machine is None:
        return (words("several, see the manifest"),)
    if not machine.get("cpu_model"):
        return (words("not recorded"),)
    base = f"constant:{report.name}/machine"
    parts = [sourced(visible(str(machine["cpu_model"])), f"{base}/cpu_model")]
    if machine.get("cores"):
        parts += [words(", "), Shown(value_text(machine["cores"]), f"{base}/cores"), words(" cores")]
    return tuple(parts)
