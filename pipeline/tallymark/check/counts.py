"""Rules about counts: tasks are conserved, limits are kept, the work was done."""

from __future__ import annotations

from collections.abc import Iterator

from tallymark.check.rule import Problem, Run, run_rule

_ENDED = ("tasks_completed", "tasks_failed", "tasks_cancelled", "tasks_timed_out")
_LEFT = ("active_at_end", "queue_at_end")
_RERUN = "Run the suite again; a record is never corrected by hand"


@run_rule(
    "counts-conserved",
    "Submitted and admitted tasks are accounted for",
    why="A task that was submitted is admitted or rejected; an admitted one completes, fails, is cancelled, "
    "times out or is still there. Work left out would look like speed.",
)
def conserved(run: Run) -> Iterator[Problem]:
    """submitted = admitted + rejected; admitted = the four ways to end + what is left."""
    if not run.whole:
        return
    value = run.value
    if value["tasks_submitted"] != value["tasks_admitted"] + value["tasks_rejected"]:
        yield run.found(
            "tasks_submitted",
            f"{value['tasks_submitted']} submitted, but {value['tasks_admitted']} admitted "
            f"+ {value['tasks_rejected']} rejected",
            _RERUN,
        )
    ended = sum(value.get(key, 0) for key in (*_ENDED, *_LEFT))
    if value["tasks_admitted"] != ended:
        yield run.found(
            "tasks_admitted",
            f"{value['tasks_admitted']} admitted, but {ended} "
            "completed, failed, were cancelled, timed out or are left",
            _RERUN,
        )


@run_rule(
    "counts-ordered",
    "No count exceeds the one that it is a part of",
    why="Also for a run that died, the last known counts must be possible: submitted ≥ admitted ≥ completed.",
)
def ordered(run: Run) -> Iterator[Problem]:
    """submitted ≥ admitted + rejected, admitted ≥ ended; only where the counts are the last known ones."""
    if run.whole:
        return
    value = run.value
    submitted, admitted = value.get("tasks_submitted"), value.get("tasks_admitted")
    taken = (admitted or 0) + value.get("tasks_rejected", 0)
    if submitted is not None and submitted < taken:
        yield run.found("tasks_submitted", f"{submitted} submitted, but {taken} admitted or rejected", _RERUN)
    ended = sum(value.get(key, 0) for key in _ENDED)
    if admitted is not None and admitted < ended:
        yield run.found("tasks_admitted", f"{admitted} admitted, but {ended} ended", _RERUN)


@run_rule(
    "all-submitted",
    "A completed run submitted as many tasks as configured",
    why="A run over fewer tasks than its row says is another experiment.",
)
def all_submitted(run: Run) -> Iterator[Problem]:
    """tasks_submitted = tasks."""
    value = run.value
    if run.completed and value["tasks_submitted"] != value["tasks"]:
        yield run.found(
            "tasks_submitted", f"{value['tasks_submitted']} of {value['tasks']} tasks were submitted", _RERUN
        )


@run_rule(
    "drained",
    "Nothing runs or waits at the end",
    why="A rate over a run that was cut short leaves the slow rest out.",
)
def drained(run: Run) -> Iterator[Problem]:
    """active_at_end = queue_at_end = 0."""
    for key in _LEFT:
        if run.completed and run.value.get(key, 0) != 0:
            yield run.found(key, f"{run.value[key]} tasks are left at the end", _RERUN)


@run_rule(
    "limits-kept",
    "Queue and activity stay within their configured limits",
    why="A peak above its limit means that the limit, or the peak, was not what the row says.",
)
def limits_kept(run: Run) -> Iterator[Problem]:
    """queue_peak ≤ queue_limit (and window, in a closed loop); active_peak ≤ max_active."""
    value = run.value
    limits = [("queue_peak", "queue_limit"), ("active_peak", "max_active")]
    if value["submission"] == "closed":
        limits.append(("queue_peak", "window"))
    for key, limit in limits:
        if key in value and value[key] > value[limit]:
            yield run.found(key, f"{value[key]} exceeds {limit} = {value[limit]}", _RERUN)


@run_rule(
    "retained-limit",
    "The history keeps within both of its limits",
    why="A history that grows is a leak that a short run does not show.",
)
def retained_limit(run: Run) -> Iterator[Problem]:
    """retained_tasks ≤ history_limit_tasks and retained_bytes ≤ history_limit_bytes."""
    value = run.value
    for key, limit in (
        ("retained_tasks", "history_limit_tasks"),
        ("retained_bytes", "history_limit_bytes"),
    ):
        if key in value and value[key] > value[limit]:
            yield run.found(key, f"{value[key]} exceeds {limit} = {value[limit]}", _RERUN)


@run_rule(
    "seen-once",
    "Every task ran exactly once",
    why="Counts can be right while one task ran twice and another never.",
)
def seen_once(run: Run) -> Iterator[Problem]:
    """seen twice = 0; once + never = tasks; once is at least those that came to their end."""
    if not run.whole or not run.of_tasks:
        return
    value, checks = run.value, run.value["checks"]
    once, never, twice = (checks[f"tasks_seen_{how}"] for how in ("once", "never", "twice"))
    if twice:
        yield Problem(run.at("checks", "tasks_seen_twice"), f"{twice} tasks ran more than once", _RERUN)
    elif once + never != value["tasks"]:
        yield Problem(
            run.at("checks", "tasks_seen_once"),
            f"{once} tasks seen once and {never} never, of {value['tasks']}",
            _RERUN,
        )
    elif once < value["tasks_completed"] + value["tasks_failed"]:
        yield Problem(
            run.at("checks", "tasks_seen_once"),
            f"{once} tasks ran, yet {value['tasks_completed'] + value['tasks_failed']} came to their end",
            _RERUN,
        )


@run_rule(
    "work-done",
    "Every completion did its whole work",
    why="If the real work were left out by mistake, the counts of tasks would still add up; these would not.",
)
def work_done(run: Run) -> Iterator[Problem]:
    """Lookups, prompts, probes, output = completed × what one task does; if every admitted task completed."""
    value = run.value
    if not run.whole or not run.of_tasks or value["tasks_completed"] != value["tasks_admitted"]:
        return
    tasks, checks = value["tasks_completed"], value["checks"]
    expected = {
        "role_lookups": tasks,
        "probes_done": tasks * value["probes"],
        "output_bytes_written": tasks * value["output_bytes"],
        "prompt_bytes": checks["prompt_bytes_expected"],
    }
    for key, right in expected.items():
        if value[key] != right:
            yield run.found(key, f"{value[key]} instead of {right} for {tasks} completed tasks", _RERUN)
    if checks["lookups_failed"]:
        yield Problem(
            run.at("checks", "lookups_failed"),
            f"{checks['lookups_failed']} role lookups found nothing",
            _RERUN,
        )


@run_rule(
    "checksums",
    "What was read is what was there",
    why="A checksum computed without running a task proves that the probes read the context.",
)
def checksums(run: Run) -> Iterator[Problem]:
    """Both checksums equal the expected ones."""
    checks = run.value.get("checks", {})
    for key in ("context_checksum", "probe_checksum"):
        if checks and checks[key] != checks[f"{key}_expected"]:
            yield Problem(
                run.at("checks", key), f"{checks[key]} instead of {checks[f'{key}_expected']}", _RERUN
            )


@run_rule(
    "submission-settings",
    "Window and rate fit the way of submission",
    why="A closed loop has a window and no rate, an open one a rate and no window, a held run "
    "neither; a stray value would split or join rows.",
)
def submission_settings(run: Run) -> Iterator[Problem]:
    """window ≥ 1 if closed, else 0; rate ≥ 1 if paced or poisson, else 0."""
    value = run.value
    submission = value["submission"]
    if (value["window"] > 0) != (submission == "closed"):
        yield run.found("window", f"{value['window']} with submission {submission}", _RERUN)
    if (value["rate_per_s"] > 0) != run.open_loop:
        yield run.found("rate_per_s", f"{value['rate_per_s']} with submission {submission}", _RERUN)
