"""Azure's LLM inference traces (CSV): ``TIMESTAMP,ContextTokens,GeneratedTokens``, one request a row.

The times have seven decimals; the traces of 2024 add a zone. A row has neither session nor duration: every
row is a task of one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tallymark.agentload.traces.corpus import Step, Task
from tallymark.agentload.traces.files import TraceFile
from tallymark.agentload.traces.interface import Tally
from tallymark.agentload.traces.numbers import clock_ns, whole
from tallymark.evidence.strict_json import JsonValue

_COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
NO_TOKENS = "no tokens: the request failed or was not served"


class Azure:
    """The importer of Azure's CSV files of 2023 and 2024."""

    name = "azure"

    def fits(self, value: JsonValue, columns: Sequence[str]) -> bool:
        """A header with its three columns."""
        return set(_COLUMNS) <= set(columns)

    def tasks(self, file: TraceFile, document: JsonValue, tally: Tally) -> Iterator[Task]:
        """One task a row, in file order."""
        tally.lose("$", "the format records no sessions, latencies, models, tool calls, prefixes or errors")
        tally.ignored("$", [name for name in file.columns() if name not in _COLUMNS])
        for row in file.rows(_COLUMNS):
            tally.read()
            at_ns = tally.since_start(clock_ns(row.values["TIMESTAMP"], row.where("TIMESTAMP")))
            tokens = whole(row.values["ContextTokens"], row.where("ContextTokens"))
            output = whole(row.values["GeneratedTokens"], row.where("GeneratedTokens"))
            if not tokens or not output:
                tally.drop(NO_TOKENS)
                continue
            tally.use()
            step = Step(input_tokens=tokens, output_tokens=output)
            yield Task(f"line {row.line}", tally.source, (step,), start_ns=at_ns)
