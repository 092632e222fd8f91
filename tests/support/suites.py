"""Journals for tests: the lines that a suite would have written for a valid document, as far as wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.evidence import runtime_execution
from tallymark.evidence.journal import Journal
from tallymark.suites import host
from tallymark.suites.model import SCHEMA, Configuration, Plan, PlannedRun
from tallymark.suites.session import append, header, journal_path


def today(**changes: Any) -> dict[str, Any]:
    """A document as a suite writes it today."""
    return runtime_execution(**{"version": SCHEMA.partition("/")[2], **changes})


def smallest(**changes: Any) -> dict[str, Any]:
    """The smallest document as a suite writes it today: one run of ten tasks, no warm-up."""
    return today(**{"tasks": 10, "agents": (100,), "repetitions": 1, "warmup_runs": 0, **changes})


def plan_of(document: dict[str, Any]) -> Plan:
    """The plan that ``document`` was made by, its warm-ups included."""
    execution = document["execution"]
    return Plan(
        suite=execution["suite"],
        label=execution["label"],
        seed=execution["seed"],
        repetitions=execution["repetitions"],
        command=execution["command"],
        warmups=tuple(
            PlannedRun(run["index"], run["repetition"], Configuration.from_json(run))
            for run in document["warmups"]
        ),
        runs=tuple(PlannedRun.from_json(entry) for entry in execution["plan"]),
    )


class Recorder:
    """Writes a journal step by step, each step one line of the suite that it stands for."""

    def __init__(self, folder: Path, document: dict[str, Any] | None = None) -> None:
        self.document = document or today(tasks=1000, repetitions=2, label="broken")
        self.plan = plan_of(self.document)
        self.path = journal_path(folder, self.plan.label)
        self.journal = Journal.create(self.path, header(self.plan))

    def gate(self) -> Recorder:
        append(
            self.journal,
            "gate",
            manifest=self.document["manifest"],
            gate=self.document["gate"],
            started_at=self.document["execution"]["started_at"],
        )
        return self

    def started(self, section: str, index: int, state: dict[str, Any] | None = None) -> Recorder:
        run = self.document[section][index]
        append(
            self.journal,
            "started",
            section=section,
            index=index,
            run_id=run["run_id"],
            host=host.state() if state is None else state,
        )
        return self

    def progress(self, **counts: Any) -> Recorder:
        append(self.journal, "progress", progress=counts)
        return self

    def finished(self, section: str, index: int) -> Recorder:
        self.started(section, index)
        append(self.journal, "finished", section=section, run=self.document[section][index])
        return self

    def interrupted(self, section: str, index: int, run: dict[str, Any]) -> Recorder:
        self.started(section, index)
        append(self.journal, "interrupted", section=section, run=run)
        return self

    def torn(self, text: bytes) -> Recorder:
        with self.path.open("ab") as file:
            file.write(text)
        return self

    def killed(self) -> Path:
        """The writer is gone: nobody holds the journal any more."""
        self.journal.close()
        return self.path
