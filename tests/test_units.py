"""Rounding and units: expected texts are hand computed or from another program, as said beside them."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark import units
from tallymark.units import UNITS, UnitError, factor, fixed, scaled, significant

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def by_string(value: float, places: int) -> str:
    """Half up on the digits of ``repr`` by long-hand arithmetic: no Decimal rounding involved."""
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    number, shift = int("".join(map(str, digits))), exponent + places
    if shift >= 0:
        rounded = number * 10**shift
    else:
        unit = 10**-shift
        rounded = (2 * number + unit) // (2 * unit)
    text = str(rounded).rjust(places + 1, "0")
    whole = text[: len(text) - places] + ("." + text[len(text) - places :] if places else "")
    return ("-" if sign and rounded else "") + whole


# Traps where round(), toFixed or numpy differ; right texts by Intl.NumberFormat and SQLite.
@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (2.675, 2, "2.68"),
        (0.5, 0, "1"),
        (2.5, 0, "3"),
        (-2.5, 0, "-3"),
        (1.005, 2, "1.01"),
        (14.7895, 3, "14.790"),
        (0.125, 2, "0.13"),
        (1.45, 1, "1.5"),
        (0.285, 2, "0.29"),
        (-0.0, 2, "0.00"),
        (-0.0004, 3, "0.000"),
        (0.000001, 3, "0.000"),
        (1e21, 2, "1000000000000000000000.00"),
        (5e-324, 2, "0.00"),
        (0.49999999999999994, 0, "0"),
        (4503599627370497.5, 0, "4503599627370498"),
        (123456789012345.675, 2, "123456789012345.67"),
        (9007199254740993, 0, "9007199254740993"),
        (7, 3, "7.000"),
    ],
)
def test_halves_are_rounded_up_on_the_shortest_decimal(value: float, places: int, text: str) -> None:
    assert fixed(value, places) == text


@given(FINITE, st.integers(0, 12))
def test_fixed_agrees_with_long_hand_arithmetic(value: float, places: int) -> None:
    assert fixed(value, places) == by_string(value, places)


@given(FINITE, st.integers(0, 12))
def test_fixed_never_prints_a_signed_zero_or_an_exponent(value: float, places: int) -> None:
    text = fixed(value, places)
    assert not (text.startswith("-") and float(text) == 0)
    assert "e" not in text.lower()
    assert len(text.partition(".")[2]) == places


@given(FINITE, FINITE, st.integers(0, 6))
def test_fixed_keeps_the_order_of_values(left: float, right: float, places: int) -> None:
    low, high = sorted((left, right))
    assert Decimal(fixed(low, places)) <= Decimal(fixed(high, places))


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (9.996, 3, "10.0"),
        (0.9996, 3, "1.00"),
        (123456, 3, "123000"),
        (0.000123456, 3, "0.000123"),
        (1.5, 3, "1.50"),
        (0, 3, "0"),
        (-0.0, 3, "0"),
        (2.345, 3, "2.35"),
        (-9.995, 3, "-10.0"),
        (1e22, 2, "10000000000000000000000"),
        (999, 2, "1000"),
    ],
)
def test_significant_digits_are_kept_in_fixed_notation(value: float, digits: int, text: str) -> None:
    assert significant(value, digits) == text


@given(FINITE.filter(bool), st.integers(1, 17))
def test_significant_is_within_half_a_unit_of_its_last_digit(value: float, digits: int) -> None:
    with localcontext(prec=1000, rounding=ROUND_HALF_UP):
        exact, shown = Decimal(repr(value)), Decimal(significant(value, digits))
        assert abs(shown - exact) * 2 <= Decimal(1).scaleb(exact.adjusted() - digits + 1)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "1"])
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    for call in (lambda: fixed(value, 2), lambda: significant(value, 2), lambda: scaled(value, 2, 1)):  # type: ignore[arg-type]
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("places", [-1, 401])
def test_an_impossible_number_of_places_is_refused(places: int) -> None:
    with pytest.raises(ValueError):
        fixed(1.0, places)
    with pytest.raises(ValueError):
        significant(1.0, 0)


@pytest.mark.parametrize(
    ("source", "shown", "expected"),
    [
        ("ns", "ms", (1, 1_000_000)),
        ("s", "us", (1_000_000, 1)),
        ("bytes", "MiB", (1, 1 << 20)),
        ("GiB", "KiB", (1 << 20, 1)),
        ("ratio", "percent", (100, 1)),
        ("percent", "ratio", (1, 100)),
        ("ratio", "permille", (1000, 1)),
        ("ms", "ms", (1, 1)),
    ],
)
def test_factors_are_exact_ratios_in_lowest_terms(source: str, shown: str, expected: tuple[int, int]) -> None:
    assert factor(source, shown) == expected


def test_every_factor_is_undone_by_the_way_back() -> None:
    for one in UNITS.values():
        for other in UNITS.values():
            if one.quantity == other.quantity:
                num, den = factor(one.name, other.name)
                assert factor(other.name, one.name) == (den, num)


@pytest.mark.parametrize(("source", "shown"), [("ms", "bytes"), ("1", "ratio"), ("µs", "ms"), ("ms", "msec")])
def test_unknown_units_and_other_quantities_are_refused(source: str, shown: str) -> None:
    with pytest.raises(UnitError):
        factor(source, shown)


def test_the_unit_table_holds_what_the_schemas_may_name() -> None:
    expected = {
        "1",
        "ns",
        "us",
        "ms",
        "s",
        "bytes",
        "KiB",
        "MiB",
        "GiB",
        "1/s",
        "1/min",
        "USD",
        "percent",
        "permille",
        "ratio",
    }
    assert set(UNITS) == expected
    assert units.unit("MiB").title == "mebibytes (1,048,576 bytes)"


def test_an_integer_that_divides_stays_an_integer() -> None:
    assert scaled(3_000_000, 1, 1_000_000) == 3
    assert isinstance(scaled(3_000_000, 1, 1_000_000), int)
    assert scaled(3_500_000, 1, 1_000_000) == 3.5
    assert scaled(9007199254740991, 1000, 1) == 9007199254740991000


# 1.26 ms, not 1260 ms: the unit fault that published wrk's microseconds as milliseconds.
def test_microseconds_become_milliseconds() -> None:
    num, den = factor("us", "ms")
    assert fixed(scaled(1260, num, den), 2) == "1.26"


@given(FINITE.filter(lambda x: abs(x) < 1e300), st.sampled_from([(1, 1000), (1000, 1), (1, 1 << 20)]))
def test_doubles_are_multiplied_first_and_divided_then(value: float, ratio: tuple[int, int]) -> None:
    num, den = ratio
    assert scaled(value, num, den) == value * num / den
