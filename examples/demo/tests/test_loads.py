from __future__ import annotations

from driver.loads import Load, judge, parse

KEYS = ["a", "b", "c"]
ONCE = ["begin rust 1 a", "end rust 1 a", "begin ruby 2 b", "end ruby 2 b", "begin rust 1 c"]


def test_each_record_loaded_once_is_good() -> None:
    verdict = judge(parse(ONCE), KEYS)
    assert (verdict.good, verdict.once, verdict.again) == (True, 3, None)


def test_a_record_loaded_twice_is_found() -> None:
    verdict = judge(parse([*ONCE, "begin ruby 2 a"]), KEYS)
    assert (verdict.good, verdict.too_often) == (False, ["a"])


def test_a_record_never_loaded_is_found() -> None:
    verdict = judge(parse(ONCE), [*KEYS, "d"])
    assert (verdict.good, verdict.never) == (False, ["d"])


def test_a_record_that_nobody_asked_for_is_found() -> None:
    assert not judge(parse([*ONCE, "begin ruby 2 x"]), KEYS).good


def test_what_the_killed_worker_was_loading_may_be_begun_anew_once() -> None:
    verdict = judge(parse([*ONCE, "begin ruby 2 c"]), KEYS, killed=1)
    assert (verdict.good, verdict.again) == (True, Load("ruby", 2, "c"))
    assert not judge(parse([*ONCE, "begin ruby 2 c", "begin ruby 2 c"]), KEYS, killed=1).good


def test_nothing_else_of_the_killed_worker_may() -> None:
    assert not judge(parse([*ONCE, "begin ruby 2 a"]), KEYS, killed=1).good


def test_the_killed_worker_itself_may_not_load_twice() -> None:
    assert not judge(parse([*ONCE, "begin rust 1 c"]), KEYS, killed=1).good


def test_a_load_without_its_end_is_under_way() -> None:
    loads = parse(ONCE)
    assert loads.under_way(1) == Load("rust", 1, "c")
    assert loads.under_way(2) is None


def test_keys_may_hold_spaces() -> None:
    assert parse(["begin rust 1 a key"]).begun == [Load("rust", 1, "a key")]
