from math import inf

import pytest

from harness.spread import Spread, ratio, spread, too_close


def test_the_median_and_the_quartiles_of_known_numbers():
    assert spread([5, 1, 4, 2, 3]) == Spread(median=3, low=2, high=4, rounds=5)


def test_one_wild_round_moves_neither_median_nor_quartiles_far():
    calm = spread([10, 10, 11, 11, 12, 12, 13, 13])
    disturbed = spread([10, 10, 11, 11, 12, 12, 13, 13_000])
    assert disturbed.median == calm.median
    assert disturbed.high == calm.high


def test_a_single_round_has_no_spread():
    assert spread([7.0]) == Spread(7.0, 7.0, 7.0, 1)


def test_no_round_is_an_error():
    with pytest.raises(ValueError, match="no rounds"):
        spread([])


def test_a_ratio_pairs_the_rounds():
    # The machine became ten times slower half-way: the ratio of each round did not.
    assert ratio([20, 20, 200, 200], [10, 10, 100, 100]) == Spread(2, 2, 2, 4)


def test_rounds_that_cannot_be_paired_are_an_error():
    with pytest.raises(ValueError, match="2 rounds beside 1"):
        ratio([1, 2], [1])


def test_beside_nothing_something_is_infinitely_more_and_nothing_is_the_same():
    assert ratio([0.5] * 3, [0] * 3).median == inf
    assert ratio([0] * 3, [0] * 3).median == 1
    assert ratio([0] * 3, [0.5] * 3).median == 0


@pytest.mark.parametrize(
    ("value", "target", "close"),
    [(19, 20, True), (21.9, 20, True), (17.9, 20, False), (22.1, 20, False), (20, 20, True)],
)
def test_a_tenth_around_the_target_is_too_close(value, target, close):
    assert too_close(value, target) is close
