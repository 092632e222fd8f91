"""Foreign text in our output: seen as what it is, and never taken for an order."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.errors import UsageError, message_line
from tallymark.printable import log_line, printable

TEXTS = st.text(st.characters(codec=None), max_size=30)


def obeyed(line: str) -> bool:
    """Whether the GitHub runner takes the line for a command: ``::`` first, or ``##[`` anywhere in it.

    Origin: ActionCommand.TryParseV2 and TryParse of actions/runner.
    """
    return line.lstrip().startswith("::") or "##[" in line


def test_invisible_characters_are_shown_as_escapes() -> None:
    assert printable("a\tb\u202e\ud800\U000e0041ü→") == "a\\u0009b\\u202e\\ud800\\U000e0041ü→"


@pytest.mark.parametrize("code", [0xFFFE, 0xFFFF, 0xFDD0, 0xFDEF, 0x1FFFE, 0x10FFFF])
def test_noncharacters_are_shown_as_escapes_because_xml_has_none(code: int) -> None:
    assert unicodedata.category(chr(code)) == "Cn"
    assert printable(f"a{chr(code)}") == (f"a\\u{code:04x}" if code < 0x10000 else f"a\\U{code:08x}")


@given(TEXTS)
def test_any_printable_text_is_one_line_of_xml(text: str) -> None:
    shown = printable(text)
    assert ElementTree.fromstring(f"<a>{shown.replace('&', '').replace('<', '')}</a>") is not None
    assert "\n" not in shown and "\r" not in shown
    assert printable(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x.json: gone. Check it.", "\\u003a:error::x.json: gone. Check it."),
        ("  ::stop-commands::x", "  \\u003a:stop-commands::x"),
        ("\u3000::warning::x", "\u3000\\u003a:warning::x"),
        ("a.json ##[add-mask]a", "a.json ##\\u005badd-mask]a"),
        ("##vso[task.setvariable variable=a]b", "##vso\\u005btask.setvariable variable=a]b"),
        ("##teamcity[buildStop]", "##teamcity\\u005bbuildStop]"),
        ("data/a.json::$.runs[0]: gone. Check it.", "data/a.json::$.runs[0]: gone. Check it."),
        ("a: b # [c]", "a: b # [c]"),
    ],
)
def test_a_log_line_is_no_command_to_a_ci_service(text: str, shown: str) -> None:
    assert log_line(text) == shown


@given(
    st.tuples(st.sampled_from(["", " ", "\u3000", "\u200b", "\x0b"]), st.sampled_from(["::", "##["]), TEXTS)
)
def test_no_line_is_obeyed_and_saying_it_twice_changes_nothing(parts: tuple[str, str, str]) -> None:
    line = log_line("".join(parts))
    assert not obeyed(line)
    assert log_line(line) == line


def test_every_message_can_be_printed_anywhere() -> None:
    error = UsageError("::error::\x1b[2J", "there is no such file\n::stop-commands::", "check\u202e it")
    assert error.line() == (
        "\\u003a:error::\\u001b[2J: there is no such file\\u000a::stop-commands::. Check\\u202e it."
    )
    assert message_line("a", "b", "c") == "a: b. C."
    assert error.where == "::error::\x1b[2J"
