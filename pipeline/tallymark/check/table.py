"""The table of rules: all of them, in the order in which they are applied and shown."""

from __future__ import annotations

from tallymark.check import (
    agents,
    backlog,
    commands,
    comparisons,
    contention,
    contents,
    counts,
    faults,
    imports,
    open_loop,
    plans,
    profiles,
    reports,
    resources,
    settings_fit,
    slots,
    texts,
    times,
)
from tallymark.check.rule import Rule
from tallymark.evidence.canonical import compact, sha256_hex

RULES: tuple[Rule, ...] = (
    plans.plan_sound,
    plans.plan_match,
    plans.plan_complete,
    plans.gate_passed,
    plans.run_id_unique,
    plans.null_reason,
    plans.time_order,
    plans.clean_source,
    comparisons.sides_alternate,
    counts.conserved,
    counts.ordered,
    counts.all_submitted,
    counts.drained,
    counts.submission_settings,
    counts.limits_kept,
    counts.retained_limit,
    counts.seen_once,
    counts.work_done,
    counts.checksums,
    times.elapsed_positive,
    times.throughput,
    times.percentile_order,
    times.histogram_sound,
    times.histogram_population,
    times.histogram_percentiles,
    times.stage_sums,
    times.clamped,
    resources.rss_peak,
    resources.timeline_order,
    resources.timeline_peaks,
    settings_fit.settings_fit,
    open_loop.lateness_population,
    open_loop.phases_add_up,
    open_loop.periods_add_up,
    open_loop.overload_said,
    open_loop.littles_law,
    open_loop.submission_rate,
    backlog.held_queue,
    backlog.batches_complete,
    slots.yields_done,
    slots.slot_capacity,
    faults.faults_counted,
    faults.provider_calls,
    contents.rollback_proved,
    contents.context_proved,
    contents.lookup_answers,
    contention.locks_timed,
    contention.batches_taken,
    contention.idle_ratios,
    contention.thread_cpu,
    contention.memory_accounted,
    contention.memory_explained,
    agents.scenario_named,
    agents.tasks_conserved,
    agents.calls_conserved,
    agents.conserved,
    agents.money,
    agents.amplification,
    agents.percentiles,
    agents.first_ceiling,
    agents.headroom,
    agents.littles_law,
    agents.subset,
    imports.sample_order,
    imports.exit_code,
    imports.reported_agrees,
    profiles.profile_adds_up,
    reports.ledger_closes,
    reports.cells_fit,
    reports.sources_listed,
    commands.safe_command,
    texts.no_identity,
    texts.no_unprintable,
)


def rules_for(kind: str) -> tuple[Rule, ...]:
    """The rules that judge documents of ``kind``."""
    return tuple(rule for rule in RULES if kind in rule.kinds)


def rules_sha256() -> str:
    """A digest of the table (ids, titles, reasons, kinds, severities): which rule set judged."""
    rows = [[rule.id, rule.title, rule.why, list(rule.kinds), rule.severity] for rule in RULES]
    return sha256_hex(compact(rows).encode("utf-8"))
