"""The sequences of keys: what share the popular ones have, and that every run draws the same."""

from collections import Counter

import pytest

from memory_keys import order

ENTRIES, LENGTH = 1000, 200_000


def test_a_sequence_is_the_same_every_time():
    assert order.zipf(ENTRIES, 100) == order.zipf(ENTRIES, 100)
    assert order.uniform(ENTRIES, 100) == order.uniform(ENTRIES, 100)


def test_zipf_gives_each_rank_its_share():
    counts = [count for _, count in Counter(order.zipf(ENTRIES, LENGTH)).most_common()]
    total = sum(1 / rank**order.EXPONENT for rank in range(1, ENTRIES + 1))
    for rank in (1, 2, 10):
        expected = LENGTH / rank**order.EXPONENT / total
        assert counts[rank - 1] == pytest.approx(expected, rel=0.05)


def test_popular_keys_do_not_lie_together():
    (first, _), (second, _), (third, _) = Counter(order.zipf(ENTRIES, LENGTH)).most_common(3)
    assert sorted((first, second, third)) != [0, 1, 2]
    assert max(first, second, third) - min(first, second, third) > 2


def test_uniform_asks_for_every_key_about_as_often():
    counts = Counter(order.uniform(ENTRIES, LENGTH))
    assert len(counts) == ENTRIES
    assert max(counts.values()) < 2 * LENGTH / ENTRIES


def test_a_file_holds_four_bytes_a_key(tmp_path):
    file = tmp_path / "keys"
    order.write(file, [1, 2, 0x01020304])
    assert file.read_bytes() == bytes([1, 0, 0, 0, 2, 0, 0, 0, 4, 3, 2, 1])


def test_a_sequence_is_masked_by_its_length():
    assert order.LENGTH & (order.LENGTH - 1) == 0
