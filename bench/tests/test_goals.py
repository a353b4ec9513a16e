import pytest

from controller.goals import GOALS, Goal, evaluate, verdict
from controller.row import Row
from controller.workload import Workload

SMALL = Workload(100, 10_000)
LARGE = Workload(1_000, 10_000)
AT_LEAST = Goal("get", "rust", ("lmdb", "get"), ("polycache-store", "get"), 1.5)
AT_MOST = Goal(
    "get", "python", ("polycache", "get"), ("lmdb", "get"), 0.6, at_least=False, size=100
)


def row(subject, samples, language="rust", workload=SMALL, operation="get"):
    return Row(language, workload, subject, operation, "none", samples=samples)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (2.0, "met"),
        (1.6, "met, but too close to call"),
        (1.4, "missed, but too close to call"),
        (1.0, "MISSED"),
    ],
)
def test_a_floor_is_met_above_it(value, said):
    assert verdict(value, AT_LEAST) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.3, "met"),
        (0.58, "met, but too close to call"),
        (0.62, "missed, but too close to call"),
        (0.9, "MISSED"),
    ],
)
def test_a_ceiling_is_met_below_it(value, said):
    assert verdict(value, AT_MOST) == said


def test_a_goal_divides_the_rounds_of_its_two_rows():
    rows = [row("polycache-store", [100, 100]), row("lmdb", [300, 300])]
    result = evaluate(AT_LEAST, SMALL, rows)
    assert result is not None
    assert result.ratio.median == 3
    assert result.verdict == "met"


def test_a_goal_without_one_of_its_rows_has_no_result():
    assert evaluate(AT_LEAST, SMALL, [row("lmdb", [300])]) is None


def test_a_row_that_failed_half_way_does_not_count():
    broken = row("lmdb", [300])
    broken.failure = "it went away"
    assert evaluate(AT_LEAST, SMALL, [row("polycache-store", [100]), broken]) is None


def test_a_goal_for_one_size_says_nothing_of_another():
    rows = [
        row(subject, [1.0], language="python", workload=LARGE) for subject in ("polycache", "lmdb")
    ]
    assert evaluate(AT_MOST, LARGE, rows) is None


def test_our_side_of_every_goal_is_ours():
    for goal in GOALS:
        ours = goal.below if goal.at_least else goal.above
        assert ours[0].startswith("polycache"), goal.text
