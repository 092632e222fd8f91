"""What ``support.rule_files`` writes for the rules about documents of runtime-execution/1.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support import whole
from tallymark.histogram import Histogram

Document = dict[str, Any]
Change = Callable[[Document], None]


def same(document: Document) -> None:
    """Nothing changed."""


def of_run(*path: str | int, to: Any) -> Change:
    """Set a value of the first run."""

    def change(document: Document) -> None:
        holder: Any = document["runs"][0]
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = to

    return change


def configured(**values: Any) -> Change:
    """Set configuration keys of the first run and of its plan entry."""
    return lambda document: whole.configure(document, **values)


def both(*changes: Change) -> Change:
    """Several changes, one after the other."""

    def change(document: Document) -> None:
        for one in changes:
            one(document)

    return change


def counted(*path: str, values: list[int], every: int = 1) -> Change:
    """Replace a histogram of the first run by that of ``values``."""
    return of_run(*path, to=Histogram.recorded(values).to_record() | {"sample_every": every})


def no_longer(key: str) -> Change:
    """Take a row of a series away."""

    def change(document: Document) -> None:
        document["runs"][0][key]["rows"].pop()

    return change


def said_completed(document: Document) -> None:
    """An overloaded run that says that it completed."""
    document["runs"][0] |= {"outcome": "completed", "cause": None}


def said_overloaded(document: Document) -> None:
    """A run that says that it was overloaded, and was not."""
    document["runs"][0] |= {"outcome": "overloaded", "cause": "the queue grew over the window"}


def law_beside_growth(document: Document) -> None:
    """Little's law of a stable run in one whose queue grew."""
    run = document["runs"][0]
    run["littles_law"] = whole.paced()["runs"][0]["littles_law"]
    del run["unavailable"]["littles_law"]


def one_tenant_too_few(document: Document) -> None:
    """A tenant that is not shown."""
    del document["runs"][0]["faults"]["tenants"]["t1"]


def of_side(key: str, value: object) -> Change:
    """Say something else about the comparison that the document is one side of."""

    def change(document: Document) -> None:
        document["execution"]["ab"][key] = value

    return change


def partner_of_itself(document: Document) -> None:
    """A comparison with itself."""
    document["execution"]["ab"]["partner"] = document["execution"]["id"]


def unexplained(rest: int) -> Change:
    """So much growth of memory that no owner claims, or so much claimed that did not grow."""

    def change(document: Document) -> None:
        memory = document["runs"][0]["memory"]
        growth = sum(memory["resident"].values()) + rest
        start = memory["rss_anon_at_end_bytes"] - growth
        memory |= {"unexplained_bytes": rest, "rss_growth_bytes": growth, "rss_anon_at_start_bytes": start}

    return change


def never_recovered(document: Document) -> None:
    """An outage whose queue came back, and not."""
    document["runs"][0]["faults"]["outage"]["recovered"] = False


FILES: dict[str, dict[str, tuple[Callable[[], Document], Change]]] = {
    "settings-fit": {
        "pass": (whole.closed, configured(timeout_us=5_000_000, tenants=3, priorities=4)),
        "pass-pooled": (whole.yielding, same),
        "fail-stack": (whole.closed, configured(stack_bytes=65536)),
        "fail-no-stack": (whole.closed, configured(task_stack="pooled")),
        "fail-small-stack": (whole.closed, configured(task_stack="pooled", stack_bytes=8192)),
        "fail-wait": (whole.closed, configured(wait_us=10)),
        "fail-retry": (whole.faulty, configured(retry_delay_us=10)),
        "fail-slow": (whole.closed, configured(slow_us=10)),
        "fail-phases": (whole.closed, configured(pause_ms=10)),
        "fail-burst": (whole.paced, configured(burst_factor=2)),
        "fail-rewrite": (whole.closed, configured(rewrite_permille=10)),
    },
    "sides-alternate": {
        "pass": (whole.compared, same),
        "pass-none": (whole.closed, configured(variant="b")),
        "fail-blocks": (whole.compared, of_side("order", "aabb")),
        "fail-runs": (whole.compared, of_side("order", "baababba")),
        "fail-side": (whole.compared, of_side("variant", "a")),
        "fail-library": (whole.compared, of_side("library_sha256", "2" * 64)),
        "fail-same": (whole.compared, of_side("same_library", True)),
        "fail-itself": (whole.compared, partner_of_itself),
    },
    "lateness-population": {
        "pass": (whole.paced, same),
        "fail-closed": (whole.closed, counted("histograms", "lateness", values=[1_000])),
        "fail-sampled": (
            whole.paced,
            counted("histograms", "lateness", values=[1_000 * (n + 1) for n in range(12)], every=2),
        ),
    },
    "phases-add-up": {
        "pass": (whole.phased, same),
        "pass-drain-only": (whole.paced, same),
        "fail-submitted": (whole.phased, of_run("phases", "burst", "tasks_submitted", to=19)),
        "fail-completed": (whole.phased, of_run("phases", "steady", "tasks_completed", to=21)),
        "fail-failed": (whole.phased, of_run("phases", "steady", "tasks_failed", to=1)),
        "fail-elapsed": (whole.phased, of_run("phases", "pause", "elapsed_ms", to=1.5)),
        "fail-peak": (whole.phased, of_run("phases", "steady", "queue_peak", to=1)),
        "fail-above-the-run": (whole.phased, of_run("phases", "steady", "queue_peak", to=41)),
        "fail-latencies": (
            whole.phased,
            counted("phases", "drain", "queue", values=[87_000, 88_000, 90_000]),
        ),
    },
    "periods-add-up": {
        "pass": (whole.phased, same),
        "fail-few": (
            whole.phased,
            both(
                no_longer("periods"),
                of_run("periods", "rows", 0, 1, to=4),
                of_run("periods", "rows", 0, 2, to=4),
            ),
        ),
        "fail-order": (whole.phased, of_run("periods", "rows", 3, 0, to=1.5)),
        "fail-counts": (whole.phased, of_run("periods", "rows", 3, 1, to=3)),
        "fail-timed-out": (whole.phased, of_run("periods", "rows", 3, 5, to=1)),
        "fail-percentiles": (whole.phased, of_run("periods", "rows", 3, 6, to=0.065)),
        "fail-some-null": (whole.phased, of_run("periods", "rows", 3, 7, to=None)),
        "fail-above-maximum": (whole.phased, of_run("periods", "rows", 3, 8, to=99.0)),
        "fail-threads": (whole.phased, of_run("periods", "rows", 3, 12, to=19)),
        "fail-log": (whole.phased, of_run("periods", "rows", 3, 13, to=0)),
    },
    "overload-said": {
        "pass": (whole.overloaded, same),
        "pass-stable": (whole.paced, same),
        "pass-behind": (whole.behind, same),
        "fail-completed": (whole.overloaded, said_completed),
        "fail-behind": (whole.behind, said_completed),
        "fail-overloaded": (whole.paced, said_overloaded),
        "fail-growth": (whole.overloaded, of_run("stability_window", "growth_per_second", to=-1.0)),
        "fail-direction": (
            whole.overloaded,
            both(
                of_run("stability_window", "growth_per_second", to=-1500.0),
                of_run("stability_window", "queue_first", to=9.0),
                of_run("stability_window", "queue_last", to=1.0),
            ),
        ),
        "fail-above-peak": (
            whole.overloaded,
            both(
                of_run("stability_window", "queue_last", to=13.0),
                of_run("stability_window", "growth_per_second", to=2250.0),
            ),
        ),
        "fail-window": (
            whole.overloaded,
            both(
                of_run("stability_window", "window_ms", to=12.0),
                of_run("stability_window", "growth_per_second", to=1000.0),
            ),
        ),
    },
    "littles-law": {
        "pass": (whole.paced, same),
        "fail-product": (
            whole.paced,
            both(of_run("littles_law", "product", to=0.1), of_run("littles_law", "error_percent", to=0.0)),
        ),
        "fail-error": (whole.paced, of_run("littles_law", "error_percent", to=6.25)),
        "fail-growing": (whole.overloaded, law_beside_growth),
        "fail-window": (whole.paced, of_run("littles_law", "window_ms", to=11.0)),
    },
    "submission-rate": {
        "pass": (whole.closed, same),
        "fail-rate": (whole.closed, of_run("admitted_per_second", to=1501.0)),
        "fail-longer": (whole.closed, of_run("drain_ms", to=2.5)),
    },
    "held-queue": {
        "pass": (whole.held, same),
        "fail-peak": (whole.held, of_run("queue_peak", to=11)),
        "fail-early": (whole.held, of_run("queue_at_release", to=11)),
    },
    "batches-complete": {
        "pass": (whole.batches, same),
        "pass-unread": (whole.batches, of_run("batch_memory", "rows", 1, 3, to=None)),
        "fail-missing": (whole.batches, no_longer("batch_memory")),
        "fail-number": (whole.batches, of_run("batch_memory", "rows", 1, 0, to=3)),
        "fail-tasks": (whole.batches, of_run("batch_memory", "rows", 1, 1, to=9)),
        "fail-time": (whole.batches, of_run("batch_memory", "rows", 1, 2, to=1.0)),
        "fail-rss": (whole.batches, of_run("batch_memory", "rows", 1, 3, to=19 << 20)),
        "fail-anonymous": (whole.batches, of_run("batch_memory", "rows", 1, 4, to=17 << 20)),
    },
    "yields-done": {
        "pass": (whole.yielding, same),
        "fail-yields": (whole.yielding, of_run("yields_done", to=23)),
        "fail-inline": (whole.closed, of_run("suspensions", to=1)),
        "fail-peak": (whole.yielding, of_run("suspended_peak", to=13)),
    },
    "slot-capacity": {
        "pass": (whole.yielding, same),
        "fail-slots": (
            whole.closed,
            both(of_run("slots", to=9), of_run("capacity_per_second", to=9 / 0.002055 * 1000)),
        ),
        "fail-occupancy": (whole.closed, of_run("slot_occupancy_mean_ms", to=0.002056)),
        "fail-capacity": (whole.closed, of_run("capacity_per_second", to=1.0)),
    },
    "faults-counted": {
        "pass": (whole.faulty, same),
        "fail-chosen": (
            whole.yielding,
            both(configured(fail_permille=100), of_run("faults", "failed_chosen", to=2)),
        ),
        "fail-share": (
            whole.faulty,
            both(configured(fail_permille=1), of_run("faults", "failed_chosen", to=9)),
        ),
        "fail-slow": (whole.faulty, of_run("faults", "slow_chosen", to=1)),
    },
    "provider-calls": {
        "pass": (whole.faulty, same),
        "pass-yielding": (whole.yielding, same),
        "fail-errors": (whole.faulty, of_run("faults", "provider_errors", to=16)),
        "fail-retries": (whole.faulty, of_run("faults", "provider_errors", to=2)),
        "fail-no-outage": (whole.yielding, of_run("faults", "provider_errors", to=1)),
        "fail-amplification": (whole.faulty, of_run("faults", "amplification", to=1.0)),
        "fail-waits": (whole.faulty, counted("histograms", "provider_wait", values=[2_000] * 14)),
        "fail-recovery": (whole.faulty, never_recovered),
        "fail-outage-peak": (whole.faulty, of_run("faults", "outage", "queue_peak", to=13)),
        "fail-tenants": (whole.faulty, one_tenant_too_few),
        "fail-tenant": (whole.faulty, of_run("faults", "tenants", "t0", "completed", to=6)),
        "fail-tenant-latency": (
            whole.faulty,
            counted("faults", "tenants", "t0", "end_to_end", values=[60_000] * 6),
        ),
    },
    "rollback-proved": {
        "pass": (whole.rolled_back, same),
        "fail-checksum": (whole.rolled_back, of_run("rollback", "checksum_after", to="0" * 16)),
        "fail-mismatch": (whole.rolled_back, of_run("rollback", "mismatches", to=1)),
        "fail-cycles": (whole.rolled_back, configured(rollbacks=4)),
        "fail-at-rest": (whole.rolled_back, configured(snapshot="at_rest")),
        "fail-copied": (whole.rolled_back, of_run("rollback", "bytes_copied", to=40 * whole.CHUNK)),
        "fail-rewritten": (whole.rolled_back, of_run("rollback", "chunks_rewritten", to=40)),
        "fail-times": (whole.rolled_back, counted("histograms", "rollback", values=[900, 1_000])),
    },
    "context-proved": {
        "pass": (whole.context, same),
        "fail-rollback": (whole.context, of_run("context", "checksum_after_rollback", to="0" * 16)),
        "fail-restored": (whole.context, of_run("context", "checksum_restored", to="0" * 16)),
        "fail-loaded": (whole.context, of_run("context", "checksum", to="0" * 16)),
        "fail-size": (whole.context, configured(context_bytes=8 << 20)),
        "fail-chunks": (whole.context, of_run("context", "chunks", to=128)),
        "fail-shared": (whole.context, of_run("context", "chunks_shared", to=128)),
        "fail-rewritten": (whole.context, configured(rewrite_permille=20)),
        "fail-unchanged": (whole.context, of_run("context", "checksum_rewritten", to="fedcba9876543210")),
        "fail-overview": (whole.context, of_run("context", "overview_bytes", to=3901)),
        "fail-multiple": (whole.context, of_run("context", "peak_over_canonical", to=1.05)),
        "fail-time": (whole.context, of_run("context", "spill_ms", to=5.0)),
    },
    "lookup-answers": {
        "pass": (whole.lookup, same),
        "fail-wrong": (whole.lookup, of_run("lookup", "wrong", to=1)),
        "fail-roles": (whole.lookup, of_run("lookup", "roles", to=101)),
        "fail-answers": (whole.lookup, of_run("lookup", "not_found", to=5)),
        "fail-cost": (whole.lookup, of_run("lookup", "build_ns_per_role", to=500.0)),
        "fail-probes": (whole.lookup, of_run("lookup", "mean_probe", to=4.5)),
        "fail-percentiles": (whole.lookup, of_run("lookup", "hit_ns_p50", to=41)),
        "fail-histogram": (
            whole.lookup,
            of_run("histograms", to={"lookup_hit": Histogram.recorded([30]).to_record()}),
        ),
        "fail-after-removal": (whole.lookup, of_run("lookup", "found_after_removal", to=5)),
        "fail-collisions": (whole.lookup, of_run("lookup", "collisions", to=100)),
    },
    "locks-timed": {
        "pass": (whole.closed, same),
        "fail-holds": (whole.closed, counted("histograms", "lock_hold_turn", values=[100], every=4)),
        "fail-sampling": (whole.closed, of_run("contention", "lock_sample_every", to=2)),
        "fail-too-often": (
            whole.closed,
            both(
                counted("histograms", "lock_wait_turn", values=[100] * 17, every=4),
                counted("histograms", "lock_hold_turn", values=[100] * 17, every=4),
                of_run("contention", "lock_acquisitions", "turn", to=17),
            ),
        ),
        "fail-acquisitions": (whole.closed, of_run("contention", "lock_acquisitions", "submit", to=2)),
    },
    "batches-taken": {
        "pass": (whole.closed, of_run("contention", "mean_batch", to=6.0)),
        "fail-few": (whole.closed, of_run("contention", "mean_batch", to=5.5)),
        "fail-endless": (whole.closed, of_run("contention", "mean_batch", to=1e308)),
        "fail-part": (whole.closed, of_run("contention", "mean_batch", to=8.25)),
    },
    "idle-ratios": {
        "pass": (whole.closed, of_run("contention", "idle_while_queued_ratio", to=0.5)),
        "fail": (whole.closed, of_run("contention", "idle_while_queued_ratio", to=0.625)),
    },
    "thread-cpu": {
        "pass": (whole.closed, of_run("contention", "worker_cpu_ms", to=20.0)),
        "fail": (whole.closed, of_run("contention", "worker_cpu_ms", to=40.0)),
    },
    "memory-accounted": {
        "pass": (whole.closed, same),
        "fail-rest": (whole.closed, of_run("memory", "unexplained_bytes", to=4095)),
        "fail-resident": (whole.closed, of_run("memory", "resident", "context_bytes", to=0)),
        "fail-growth": (whole.closed, of_run("memory", "rss_anon_at_start_bytes", to=0)),
        "fail-owner": (whole.closed, of_run("memory", "owners", "sampler_bytes", to=0)),
        "fail-stacks": (whole.closed, of_run("memory", "stack_reserved_bytes", to=0)),
    },
    "memory-explained": {
        "pass": (whole.closed, unexplained(256 << 10)),
        "pass-below": (whole.closed, unexplained(-(256 << 10))),
        "fail": (whole.closed, unexplained((256 << 10) + 1)),
        "fail-below": (whole.closed, unexplained(-(256 << 10) - 1)),
    },
}
