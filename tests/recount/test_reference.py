"""The grammar of data-from."""

from __future__ import annotations

import pytest

from tallymark.recount.reference import Unresolved, parse


def test_report_ends_at_the_first_slash_and_column_starts_after_the_last_colon() -> None:
    reference = parse('cell:hyper/benchmark="python3 a/b.py: {x}, y=1":elapsed', None)
    assert reference.cell() == ("hyper", 'benchmark="python3 a/b.py: {x}, y=1"', "elapsed")


def test_key_is_the_part_after_the_last_slash() -> None:
    assert parse('key:hyper/benchmark="a/b"/benchmark', None).last() == (
        "hyper",
        'benchmark="a/b"',
        "benchmark",
    )


def test_a_tilde_continues_the_base() -> None:
    reference = parse("raw:~.elapsed_ms|places=3", "abc/$.runs[0]")
    assert reference.first() == ("abc", "$.runs[0].elapsed_ms")
    assert dict(reference.options) == {"places": "3"}


def test_options_are_cut_from_the_right_only() -> None:
    reference = parse('row:hyper/benchmark="a | n"|label', None)
    assert reference.rest == 'hyper/benchmark="a | n"'
    assert reference.only("label", "values") == "label"


@pytest.mark.parametrize(
    "text",
    ["", "elapsed", "cell:~:elapsed", "raw:a/$.x|places=3|places=2"],
)
def test_what_has_no_form_is_unresolved(text: str) -> None:
    with pytest.raises(Unresolved):
        parse(text, None)


def test_an_option_of_another_scheme_is_unresolved() -> None:
    with pytest.raises(Unresolved, match="options"):
        parse("cell:a/b:c|mib", None).only("exact", "n")


@pytest.mark.parametrize("text", ["cell:a", "cell:a/b"])
def test_a_cell_names_report_row_and_column(text: str) -> None:
    with pytest.raises(Unresolved):
        parse(text, None).cell()
