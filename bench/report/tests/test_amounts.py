from __future__ import annotations

import pytest

from report_page.amounts import TIMES_SIGN, amount, margin, times


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (257.0, "ns per operation", "257 ns"),
        (10_160, "ns per operation", "10.2 µs"),
        (1.5, "µs per operation", "1.50 µs"),
        (0.25, "ms", "250 µs"),
        (12.5, "s", "12.5 s"),
        (0.4, "ns per operation", "0.400 ns"),
        (13, "bytes", "13 B"),
        (2_097_152, "bytes", "2.00 MiB"),
        (5_180_000, "operations per second", "5.18 M/s"),
        (3456, "requests per second", "3,460 req/s"),
        (0.5432, "hit ratio", "54.3 %"),
        (12, "objects per operation", "12.0 objects per operation"),
        (0, "ns per operation", "0 ns"),
    ],
)
def test_figures_have_three_digits_and_a_unit_of_their_size(
    value: float, unit: str, text: str
) -> None:
    assert amount(value, unit) == text


def test_ratios_below_one_have_two_digits() -> None:
    assert [times(one) for one in (4.183, 1, 0.5741, 0.012, 1.2e-5, 0, float("inf"))] == [
        text + TIMES_SIGN for text in ("4.18", "1.00", "0.57", "0.012", "<0.0001", "<0.0001", "∞")
    ]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.0, "ns per operation", "4.00x faster"),
        (0.25, "ns per operation", "4.00x slower"),
        (0.25, "requests per second", "4.00x slower"),
        (2.0, "bytes", "2.00x smaller"),
        (0.5, "bytes", "2.00x larger"),
        (2.0, "hit ratio", "2.00x more hits"),
        (0.5, "objects per operation", "2.00x more"),
        (0.0, "ns per operation", "∞x slower"),
    ],
)
def test_a_margin_is_above_one_and_says_which_way(value: float, unit: str, text: str) -> None:
    assert margin(value, unit) == text.replace("x", TIMES_SIGN, 1)
