"""Messages that say what is wrong, and not something else."""

import math
from datetime import timedelta
from pathlib import Path

import pytest

from polycache import Cache, InvalidArgument


@pytest.mark.parametrize("ttl", [-1, -0.5, math.inf, math.nan, 10**30, timedelta(seconds=-1)])
def test_a_ttl_of_a_right_type_that_is_no_length_of_time(cache: Cache, ttl: float) -> None:
    with pytest.raises(InvalidArgument, match="is not a length of time: it must be longer than 0"):
        cache.set("k", 1, ttl=ttl)


def test_a_ttl_of_nought_is_called_so(cache: Cache) -> None:
    for nought in (0, 0.0, "0s", timedelta()):
        with pytest.raises(InvalidArgument, match=r"^ttl is 0; it must be longer than 0"):
            cache.set("k", 1, ttl=nought)


def test_a_path_with_a_lone_surrogate(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="path holds a lone surrogate"):
        Cache(str(tmp_path / "\ud800"))
    with pytest.raises(InvalidArgument, match="not int"):
        Cache(7)  # type: ignore[arg-type]
