"""The page's keys and values."""

import string

from diskbench.items import VALUES, how_many, items, keys, shuffled, values


def test_keys_are_six_digits_in_order():
    assert keys(3) == ["000000", "000001", "000002"]
    assert keys(100_000)[-1] == "099999"


def test_values_are_letters_and_digits_of_one_length():
    texts = values(1000, 300)
    assert {len(text) for text in texts} == {1000}
    assert set("".join(texts)) == set(string.ascii_letters + string.digits)


def test_letters_are_equally_frequent():
    text = "".join(values(1000, 1000))
    counts = [text.count(letter) for letter in string.ascii_letters + string.digits]
    assert max(counts) / min(counts) < 1.1


def test_values_are_distinct_and_the_same_every_time():
    texts = [value for _, value in items(2 * VALUES, 100)]
    assert len(set(texts)) == VALUES
    assert texts == [value for _, value in items(2 * VALUES, 100)]


def test_another_order_has_the_same_keys():
    order = shuffled(keys(100))
    assert order != keys(100)
    assert sorted(order) == keys(100)


def test_a_slow_store_gets_fewer_keys_and_a_quick_run_a_share():
    assert how_many(10_000, None, 1) == 10_000
    assert how_many(10_000, 300, 1) == 300
    assert how_many(100, 300, 1) == 100
    assert how_many(10_000, 300, 0.1) == 30
