"""Figures as a person reads them: three digits and a unit of fitting size."""

from __future__ import annotations

from math import inf, isinf

from harness import row

# Nanoseconds in a unit, of the units that are times.
TIMES = {
    row.NANOSECONDS: 1.0,
    row.MICROSECONDS: 1e3,
    row.MILLISECONDS: 1e6,
    row.SECONDS: 1e9,
}
STEPS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
SIZES = ((1024.0**3, "GiB"), (1024.0**2, "MiB"), (1024.0, "KiB"), (1.0, "B"))
RATES = ((1e6, "M/s"), (1e3, "k/s"), (1.0, "/s"))
# Ratios below are only said to be so.
LEAST = 0.0001
TIMES_SIGN = "\N{MULTIPLICATION SIGN}"
# What ours is beside a peer, when it is better and when it is worse.
FASTER, FEWER = ("faster", "slower"), ("fewer", "more")
WORDS = {
    row.BYTES: ("smaller", "larger"),
    row.HIT_RATIO: ("more hits", "fewer hits"),
}
SHORT = {row.REQUESTS_PER_SECOND: "req/s", "MiB per second": "MiB/s"}


def amount(value: float, unit: str) -> str:
    """257.0 ns per operation is `257 ns`; 10160 is `10.2 µs`."""
    if unit in TIMES:
        return _scaled(value * TIMES[unit], STEPS)
    if unit == row.BYTES:
        return _scaled(value, SIZES)
    if unit == row.PER_SECOND:
        return _scaled(value, RATES)
    if unit == row.HIT_RATIO:
        return f"{value:.1%}".replace("%", " %")
    short = SHORT.get(unit, unit)
    return f"{digits(value)} {short}".rstrip()


def times(value: float) -> str:
    """A ratio with its sign, `4.18x`; below 1 two digits, `0.57x`."""
    if value < LEAST:
        return f"<{LEAST}{TIMES_SIGN}"
    if isinf(value):
        return f"∞{TIMES_SIGN}"
    return (digits(value) if value >= 1 else f"{value:#.2g}") + TIMES_SIGN


def margin(value: float, unit: str) -> str:
    """How much better or worse ours is, always as a factor above 1 with its word: 4.0 is
    `4.00x faster` and 0.25 is `4.00x slower`, so that one is not taken for the other."""
    better, worse = WORDS.get(
        unit, FASTER if unit in TIMES or unit.endswith("per second") else FEWER
    )
    if value >= 1:
        return f"{times(value)} {better}"
    return f"{times(1 / value if value else inf)} {worse}"


def digits(value: float) -> str:
    """Three digits, thousands grouped: more would claim what was not measured."""
    if abs(value) >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    if value == 0:
        return "0"
    return (f"{value:#.3g}" if abs(value) >= 0.001 else f"{value:.2g}").rstrip(".")


def _scaled(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    size, name = next((one for one in steps if abs(value) >= one[0]), steps[-1])
    # There are no parts of bytes.
    number = f"{value:.0f}" if name == "B" else digits(value / size)
    return f"{number} {name}"
