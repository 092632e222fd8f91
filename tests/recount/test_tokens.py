"""What counts as a number in running text."""

from __future__ import annotations

import pytest

from tallymark.recount.tokens import holds_number, numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("15 000 tasks", ["15", "000"]),
        ("took -0.5 ms, then +3", ["0.5", "3"]),
        ("12ms", ["12ms"]),
        ("8MiB", ["8MiB"]),
        ("on 2026-11-29 at 09:00:00", ["2026-11-29", "09:00:00"]),
        ("64-bit", ["64-bit"]),
        ("3 of 4.", ["3", "4"]),
        ("99.9% of them", ["99.9"]),
        ("耗时1234毫秒", ["1234毫秒"]),
        ("the run.100 more", ["100"]),
        ("１２３ and ½ and ²", ["１２３", "½", "²"]),
        ("tasks=1000,agents=100", ["1000,agents", "100"]),
    ],
)
def test_a_digit_that_no_letter_leads_is_a_number(text: str, found: list[str]) -> None:
    assert numbers(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "p99",
        "p99.9 and p50",
        "SHA-256",
        "x86-64",
        "UTF-8",
        "gcc-12",
        "v1.2.3",
        "H2O",
        "no digit",
        "",
        "sha256sum",
    ],
)
def test_a_word_that_a_letter_leads_is_a_name(text: str) -> None:
    assert not holds_number(text)
