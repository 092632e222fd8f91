"""SWE-agent trajectories (``.traj``): a task with its messages; ``trajectory`` adds how long actions took.

A file may have the ``history`` only. There are no tokens in it: characters are kept, and prompts are known by
their messages. The model's answer is one step; the tools it calls are named by the call, else by the first
word of the action.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tallymark.agentload.traces.corpus import MAX_BLOCKS, UNNAMED, Agent, Call, Prefixes, Step, Task
from tallymark.agentload.traces.entry import Entry
from tallymark.agentload.traces.files import TraceFile
from tallymark.agentload.traces.interface import Prompt, Tally
from tallymark.evidence.strict_json import JsonValue

_MESSAGES = ("system", "user", "tool")


class SweAgent:
    """The importer of one trajectory file: one task."""

    name = "swe-agent"

    def fits(self, value: JsonValue, columns: Sequence[str]) -> bool:
        """An object with a history of messages."""
        return isinstance(value, dict) and isinstance(value.get("history"), list)

    def tasks(self, file: TraceFile, document: JsonValue, tally: Tally) -> Iterator[Task]:
        """The one task of the file. A row is a message of the history."""
        tally.lose("$.history", "the format has no token counts: characters are kept")
        tally.lose("$.history", "the format has no times of model calls, and no models")
        values = [(file.shown, document)] if document is not None else file.json_lines()
        for number, (place, value) in enumerate(values, start=1):
            top = Entry(value, place, "$")
            steps = _steps(top, tally)
            if not steps:
                raise top.refusal("history", "holds no answer of a model", "export the whole history")
            timed = _timed(steps, top, tally)
            for key in ("info", "environment", "replay_config", "trajectory"):
                top.has(key)
            tally.ignored("$", top.unread())
            label = tally.name(file.path.stem if number == 1 else f"{file.path.stem} {number}", f"{place}::$")
            yield Task(
                label,
                tally.source,
                tuple(timed),
                prefixes=Prefixes("import", "characters"),
                agents=tuple(Agent(name) for name in dict.fromkeys(step.agent for step in timed) if name),
            )


def _steps(top: Entry, tally: Tally) -> list[Step]:
    steps: list[Step] = []
    conversations: dict[str, Prompt] = {}  # of each agent
    blocks = 0
    open_calls: dict[str, tuple[int, int]] = {}  # id of a call → its step and its place there
    for message in top.entries("history"):
        tally.read()
        tally.use()
        role, text = message.text("role"), _content(message)
        agent = message.optional_text("agent") or "main"
        said = conversations.setdefault(agent, Prompt(tally.identities))
        if role == "assistant":
            calls, ids = _calls(message, tally)
            open_calls |= {call_id: (len(steps), place) for place, call_id in enumerate(ids) if call_id}
            name = None if agent == "main" else tally.name(agent, message.where("agent"))
            steps.append(
                Step(
                    agent=name,
                    input_characters=said.characters,
                    output_characters=len(text),
                    blocks=tuple(said.blocks),
                    calls=calls,
                )
            )
            blocks += len(said.blocks)
            if blocks > MAX_BLOCKS:
                raise top.refusal("history", "has too many answers to hold together", "split the trajectory")
        elif role not in _MESSAGES:
            raise message.refusal("role", "is no role of a message (system, user, assistant, tool)")
        elif steps and (role == "tool" or message.optional_text("message_type") == "observation"):
            _result(steps, message, open_calls, len(text))
        said.add(text)
    return steps


def _content(message: Entry) -> str:
    """The text of a message: a string, or the texts of its parts."""
    if not message.has("content"):
        return ""
    content = message.take("content")
    if isinstance(content, str):
        return content
    texts = (part.optional_text("text") or "" for part in message.entries("content"))
    return "".join(texts)


def _calls(message: Entry, tally: Tally) -> tuple[tuple[Call, ...], list[str | None]]:
    """The tool calls of an answer and their ids."""
    if message.has("tool_calls"):
        calls, ids = [], []
        for call in message.entries("tool_calls"):
            function = Entry(call.take("function"), call.file, f"{call.pointer}.function")
            calls.append(Call(tally.name(function.text("name"), function.where("name"))))
            ids.append(call.optional_text("id"))
        return tuple(calls), ids
    words = (message.optional_text("action") or "").split()
    return ((Call(tally.name(words[0], message.where("action"))),) if words else ()), [None]


def _result(steps: list[Step], message: Entry, open_calls: dict[str, tuple[int, int]], length: int) -> None:
    """Give a result to the call that it answers: by id, else to the first open one of the last step."""
    ids = message.array("tool_call_ids") if message.has("tool_call_ids") else []
    if message.has("tool_call_id"):
        ids = [message.text("tool_call_id")]
    known = [open_calls.pop(found) for found in ids if isinstance(found, str) and found in open_calls]
    if not known:
        last = len(steps) - 1
        free = (i for i, call in enumerate(steps[last].calls) if call.result_characters is None)
        known = [(last, place) for place in [next(free, None)] if place is not None]
    for step, place in known[:1]:
        calls = list(steps[step].calls)
        calls[place] = replace(calls[place], result_characters=length)
        steps[step] = replace(steps[step], calls=tuple(calls))


def _timed(steps: list[Step], top: Entry, tally: Tally) -> list[Step]:
    """The steps with the execution time of each action, where the trajectory has one entry for each step."""
    if not top.has("trajectory"):
        tally.lose("$", "there is no trajectory: the times of the tools are unknown")
        return steps
    entries = list(top.entries("trajectory"))
    if len(entries) != len(steps):
        reason = "the trajectory has another number of steps than the history: its times are not used"
        tally.lose("$.trajectory", reason)
        return steps
    return [_with_time(step, entry) for step, entry in zip(steps, entries, strict=True)]


def _with_time(step: Step, entry: Entry) -> Step:
    if not entry.has("execution_time"):
        return step
    took_ns = entry.seconds_ns("execution_time")
    calls = step.calls or (Call(UNNAMED),)
    return replace(step, calls=(replace(calls[0], latency_ns=took_ns), *calls[1:]))
