from __future__ import annotations

import pytest

from report_page.figures import Figure
from report_page.standing import Standing, Verdict, standings, times_as_good


def figure(
    subject: str,
    median: float | None,
    operation: str = "get",
    unit: str = "ns per operation",
    notes: tuple[str, ...] = (),
) -> Figure:
    reason = "" if median is not None else "not built yet"
    return Figure("w", subject, operation, unit, median, median, median, 10, notes, reason)


def of(*figures: Figure, limits: tuple[str, ...] = ()) -> dict[str, Standing]:
    return {one.figure.subject: one for one in standings(figures, lambda f: f.subject in limits)}


def test_peers_are_won_lost_or_too_close() -> None:
    found = of(
        figure("polycache", 100),
        figure("slower", 250),
        figure("quicker", 40),
        figure("alike", 109),
        figure("ten-percent", 110),
        figure("map", 5),
        figure("gone", None),
        limits=("map",),
    )
    assert {name: one.verdict for name, one in found.items()} == {
        "polycache": Verdict.OURS,
        "slower": Verdict.WON,
        "quicker": Verdict.LOST,
        "alike": Verdict.CLOSE,
        "ten-percent": Verdict.WON,
        "map": Verdict.LIMIT,
        "gone": Verdict.FAILED,
    }
    times = {name: one.beside.times for name, one in found.items() if one.beside}
    assert times["slower"] == 2.5 and times["quicker"] == 0.4


def test_more_is_better_for_rates() -> None:
    unit = "requests per second"
    ours, peer = figure("polycache", 300, unit=unit), figure("peer", 100, unit=unit)
    assert times_as_good(ours, peer) == pytest.approx(3)
    assert of(ours, peer)["peer"].verdict == Verdict.WON


def test_where_ours_is_empty_peers_are_held_against_the_best_of_them() -> None:
    found = of(
        figure("polycache", None, "-", ""),
        figure("best", 10),
        figure("other", 25),
        figure("map", 1),
        limits=("map",),
    )
    assert found["polycache"].verdict == Verdict.EMPTY
    assert found["best"].beside and found["best"].beside.times == 1
    assert found["other"].verdict == Verdict.EMPTY
    assert found["other"].beside and found["other"].beside.times == 2.5
    assert found["map"].verdict == Verdict.LIMIT


def test_another_way_of_doing_it_is_held_against_our_single_operation() -> None:
    batches = "get, batches of 100"
    found = standings([figure("polycache", 100), figure("lmdb", 50, batches)])
    assert (found[1].verdict, found[1].of) == (Verdict.LOST, "get")
    with_own = standings(
        [figure("polycache", 100), figure("polycache", 20, batches), figure("lmdb", 50, batches)]
    )
    assert (with_own[2].verdict, with_own[2].of) == (Verdict.WON, "")


def test_what_survives_something_else_or_is_isolated_otherwise_is_marked() -> None:
    found = of(
        figure("polycache", 100, notes=("isolation: clone", "TTL")),
        figure("same", 10, notes=("isolation: clone", "no TTL")),
        figure("other", 10, notes=("isolation: none", "TTL")),
    )
    assert not found["same"].other_class
    assert found["other"].other_class


def test_who_hands_out_its_own_object_is_a_limit_where_all_of_ours_hand_out_copies() -> None:
    ours = figure("polycache", 100, notes=("isolation: clone",))
    peer = figure("peer", 10, notes=("isolation: none",))
    assert of(ours, peer)["peer"].verdict == Verdict.LIMIT
    # One of ours that does the same makes it a peer.
    shared = figure("polycache-shared", 50, notes=("isolation: none",))
    assert of(ours, shared, peer)["peer"].verdict == Verdict.LOST
    # A peer that copies is never a limit, and neither is one that does not say.
    assert (
        of(shared, figure("peer", 10, notes=("isolation: clone",)))["peer"].verdict == Verdict.LOST
    )
    assert of(ours, figure("peer", 10))["peer"].verdict == Verdict.LOST


def test_of_ours_the_one_that_does_the_same_for_its_user_is_held_against_a_peer() -> None:
    ours = [
        figure("polycache", 100, notes=("isolation: clone", "TTL")),
        figure("polycache-shared", 50, notes=("isolation: none", "TTL")),
        figure("polycache-shared-no-ttl", 20, notes=("isolation: none", "no TTL")),
    ]

    def beside(*notes: str) -> str:
        found = of(*ours, figure("peer", 10, notes=notes))
        assert found["peer"].beside
        return found["peer"].beside.reference

    assert beside("isolation: clone", "TTL", "async") == "polycache"
    assert beside("isolation: none", "TTL") == "polycache-shared"
    assert beside("isolation: none", "no TTL") == "polycache-shared-no-ttl"
    # None of ours isolates so: the first that expires alike.
    assert beside("isolation: frozen", "no TTL") == "polycache-shared-no-ttl"
    assert beside() == "polycache"
    # Our own rows are held against our first.
    assert (standing := of(*ours)["polycache-shared"]).beside
    assert standing.beside.reference == "polycache"


def test_a_figure_of_zero_divides_nothing() -> None:
    assert times_as_good(figure("a", 0), figure("b", 0)) == 1
    assert times_as_good(figure("a", 0), figure("b", 5)) == float("inf")
