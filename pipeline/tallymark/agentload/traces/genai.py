"""What the GenAI conventions say in a span's attributes, under the names of every version since 2024.

The conventions are still in development and rename freely; a new name wins over an old one. An attribute may
be text where a number belongs: exporters write 64-bit integers so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tallymark.agentload.traces.entry import MOST_TOKENS, kind, shown
from tallymark.errors import FindingsError, UnreadableError
from tallymark.evidence import strict_json
from tallymark.evidence.strict_json import JsonValue

Attributes = Mapping[str, JsonValue]
Role = Literal["model", "tool", "wrapper", "other", "foreign"]

_MODEL_CALLS: Final = frozenset({"chat", "generate_content", "text_completion", "completion"})
_WRAPPERS: Final = frozenset(
    {"invoke_agent", "invoke_workflow", "create_agent", "plan", "agent", "workflow", "task"}
)
_INPUT: Final = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens")
_OUTPUT: Final = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.usage.completion_tokens",
)
_CACHED: Final = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached",
)
_MODEL: Final = ("gen_ai.response.model", "gen_ai.request.model")
_PROMPT: Final = ("gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.prompt")
_ANSWER: Final = ("gen_ai.output.messages", "gen_ai.output.text", "gen_ai.completion")
_RESULT: Final = ("gen_ai.tool.call.result", "gen_ai.tool.message")
_NUMBER: Final = re.compile(r"-?[0-9]{1,20}", re.ASCII)
# Members of a message that say what it is, not what is said in it.
_LABELS: Final = frozenset({"role", "type", "id", "finish_reason"})


@dataclass(frozen=True, slots=True)
class Named:
    """The attributes of one span with the place of the span, for messages."""

    attributes: Attributes
    file: str
    pointer: str

    def where(self, name: str) -> str:
        """The place of an attribute, by its name."""
        return f"{self.file}::{self.pointer}.attributes[{json.dumps(name)}]"

    def text(self, *names: str) -> str | None:
        """The first of the attributes that is there, as text. FindingsError: it is none."""
        for name in names:
            value = self.attributes.get(name)
            if isinstance(value, str):
                return value
            if value is not None:
                raise FindingsError(
                    self.where(name), f"is {kind(value)}, not a string", "correct the exporter"
                )
        return None

    def tokens(self, names: Sequence[str]) -> int | None:
        """The first of the attributes that is there, as a count. FindingsError: it is none."""
        name = next((name for name in names if self.attributes.get(name) is not None), None)
        if name is None:
            return None
        value = self.attributes[name]
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            said = shown(value) if isinstance(value, str) else kind(value)
            raise FindingsError(
                self.where(name), f"is {said}, not a number of tokens", "correct the exporter"
            )
        if not 0 <= value <= MOST_TOKENS:
            problem = "is negative" if value < 0 else f"is above {MOST_TOKENS}"
            raise FindingsError(self.where(name), problem, "correct the exporter")
        return value


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a model call; None is unknown."""

    input: int | None
    cached: int | None
    output: int | None


def is_genai(attributes: Attributes) -> bool:
    """Whether a span carries any GenAI attribute."""
    return any(name.startswith("gen_ai.") for name in attributes)


def operation(span: Named) -> str | None:
    """The operation's name, of new and old conventions; None when no attribute says it."""
    return span.text("gen_ai.operation.name", "llm.request.type", "traceloop.span.kind")


def role(span: Named) -> Role:
    """What a span is: a model call, a tool call, a wrapper around calls, another operation, or not GenAI."""
    name = operation(span)
    if name in _MODEL_CALLS:
        return "model"
    if name in ("execute_tool", "tool"):
        return "tool"
    if name in _WRAPPERS:
        return "wrapper"
    if name is not None and is_genai(span.attributes):
        return "other"
    if "gen_ai.tool.name" in span.attributes:
        return "tool"
    if "gen_ai.request.model" in span.attributes or span.tokens(_INPUT) is not None:
        return "model"
    return "other" if is_genai(span.attributes) else "foreign"


def usage(span: Named) -> Usage:
    """The tokens of a model call. FindingsError: no counts, or more cached than read."""
    found = Usage(span.tokens(_INPUT), span.tokens(_CACHED), span.tokens(_OUTPUT))
    if found.cached is not None and found.input is not None and found.cached > found.input:
        name = next(name for name in _CACHED if span.attributes.get(name) is not None)
        problem = f"{found.cached} cached of {found.input} input tokens"
        do = "export input tokens with the cached ones included, as the conventions say"
        raise FindingsError(span.where(name), problem, do)
    return found


def model(span: Named) -> str | None:
    """The model that answered, else the one that was asked."""
    return span.text(*_MODEL)


def prompt(span: Named) -> list[str]:
    """The prompt a message each, as texts that are only measured; empty when it was not recorded."""
    return [piece for name in _PROMPT for piece in _pieces(span, name)]


def answer_characters(span: Named) -> int | None:
    """Length of the answer; None when it was not recorded."""
    return _length(span, _ANSWER)


def result_characters(span: Named) -> int | None:
    """Length of a tool's result; None when it was not recorded."""
    return _length(span, _RESULT)


def _length(span: Named, names: Sequence[str]) -> int | None:
    name = next((name for name in names if span.attributes.get(name) is not None), None)
    return None if name is None else sum(len(piece) for piece in _pieces(span, name))


def _pieces(span: Named, name: str) -> Iterator[str]:
    """The texts of an attribute: a list of messages (as JSON text or as it is), or one text."""
    value = span.attributes.get(name)
    if value is None:
        return
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = strict_json.parse(value.encode("utf-8"), span.where(name))
        except (UnreadableError, UnicodeEncodeError):
            yield str(value)
            return
    for message in value if isinstance(value, list) else [value]:
        yield "".join(_texts(message))


def _texts(value: JsonValue) -> Iterator[str]:
    """Every text inside a message but its labels, in order; no recursion."""
    pending = [value]
    while pending:
        found = pending.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, list):
            pending += reversed(found)
        elif isinstance(found, dict):
            pending += [member for key, member in reversed(found.items()) if key not in _LABELS]
        elif found is not None:
            yield json.dumps(found)
