"""Texts of pages and the references beside them."""

from __future__ import annotations

import pytest

from tallymark.evidence.strict_json import JsonValue
from tallymark.printable import printable as visible
from tallymark.site.shown import Format, Shown, sourced, value_text, words


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("1000000", ("1", "000", "000")),
        ("457750", ("457", "750")),
        ("-12345.678", ("-12", "345.678")),
        ("≤ 12345.5", ("≤ 12", "345.5")),
        ("1024", ("1024",)),
        ("0.00395", ("0.00395",)),
        ("2026-11-29", ("2026-11-29",)),
        ("5" * 64, ("5" * 64,)),
        ("not measured", ("not measured",)),
    ],
)
def test_digits_are_grouped_without_changing_the_text(text: str, groups: tuple[str, ...]) -> None:
    """Only the integer part of a number of five or more digits is cut; a digest never is."""
    assert Shown(text).groups == groups
    assert "".join(Shown(text).groups) == text


def test_words_with_a_number_are_refused() -> None:
    """A digit in a sentence of ours would have no source; a name such as p99 is none."""
    assert words("queue p99 (SHA-256)").source == ""
    with pytest.raises(ValueError, match="number without a source"):
        words("8 workers")


def test_a_reference_is_only_spent_on_a_text_with_a_digit() -> None:
    """Bare words need no reference."""
    assert sourced("Elapsed", "spec:r/$.x").source == ""
    assert sourced("Queue p99", "spec:r/$.x").source == "spec:r/$.x"


def test_characters_that_act_are_written_out() -> None:
    """A right-to-left override, a zero-width space and a bell would change what the reader sees."""
    assert visible("GPU\u202eA\u200b\x07\n") == "GPU\\u202eA\\u200b\\u0007\\u000a"


def test_values_read_as_json_writes_them() -> None:
    """Strings stand bare; 1, 1.0 and true stay apart; compound values are compact."""
    values: list[JsonValue] = ["a|b", 1, 1.0, 1e22, True, None, {"b": 1, "a": [2]}]
    assert [value_text(value) for value in values] == [
        "a|b",
        "1",
        "1.0",
        "1e+22",
        "true",
        "null",
        '{"a":[2],"b":1}',
    ]


def test_a_format_says_its_options_in_the_order_of_the_grammar() -> None:
    """17.5 MiB is 18350080 bytes (17.5 * 2**20)."""
    mebibytes = Format(1, 1_048_576, places=2)
    assert mebibytes.text(18_350_080) == "17.50"
    assert mebibytes.options() == "|factor=1/1048576|places=2"
    assert Format(1000, 1, significant=3).options() == "|factor=1000|significant=3"
    assert Format().options() == ""
