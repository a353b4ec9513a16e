"""Races, with workers that answer from a list."""

import pytest

from controller import races
from controller.place import Opened
from harness.worker import Unavailable

LATE = {"late": True, "seconds": 0.0, "count": 0}


class Runner:
    def __init__(self, *replies):
        self.replies = list(replies)
        self.starts = []

    def send(self, start_ns, **request):
        self.starts.append(start_ns)

    def receive(self):
        return self.replies.pop(0)


def team(*runners):
    return [Opened(runner, "polycache-store", {}, {}, 2.0) for runner in runners]


def test_the_rates_of_both_are_added():
    one = Runner({"late": False, "seconds": 0.5, "count": 100})
    two = Runner({"late": False, "seconds": 1.0, "count": 100})
    assert races._together(team(one, two), "get", 0.5) == 300
    assert one.starts == two.starts


def test_a_round_that_one_came_late_to_is_repeated_with_more_notice():
    good = {"late": False, "seconds": 1.0, "count": 10}
    one, two = Runner(good, good), Runner(LATE, good)
    assert races._together(team(one, two), "get", 1.0) == 20
    assert len(one.starts) == 2


def test_one_that_always_comes_late_is_no_measurement():
    with pytest.raises(Unavailable, match="too late"):
        races._together(team(Runner(*[LATE] * races.ATTEMPTS)), "get", 1.0)
