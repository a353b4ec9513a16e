from __future__ import annotations

from report_page.quantities import quantities


def values(text: str) -> list[tuple[float, bool]]:
    return [(one.value, one.is_bytes) for one in quantities(text)]


def test_entries_and_bytes_are_told_apart() -> None:
    assert values("rust, 100 B, 10k keys") == [(100, True), (10_000, False)]
    assert values("10000 entries, 1000 bytes each") == [(10_000, False), (1000, True)]
    assert values("node, Zipf over 1M keys") == [(1_000_000, False)]
    assert values("1 KB, 100,000 keys") == [(1000, True), (100_000, False)]
    assert values("zipf 0.9") == [(0.9, False)]
    assert values("SHA256 of x86") == []


def test_around_a_number_is_the_text_with_a_hole() -> None:
    assert [one.around for one in quantities("10k keys, 1 KB")] == ["… keys, 1 KB", "10k keys, …"]
