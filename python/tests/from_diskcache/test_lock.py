"""The lock of those that write, with a time that stands still."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

import polycache.diskcache as diskcache
import polycache.diskcache.control as control
from polycache.diskcache.control import Control


class Pauses:
    """Stands for the module `time`: what happens while somebody pauses."""

    def __init__(self, then: Callable[[], None]) -> None:
        self.then = then
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, _: float) -> None:
        self.now += 1
        self.then()


def test_who_waits_comes_before_who_takes_it_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holds = [True]
    first, second = Control(str(tmp_path / "control")), Control(str(tmp_path / "control"))
    first.acquire(None)

    def take_again() -> None:
        if holds[0]:
            first.release()
            try:
                first.acquire(0)
            except diskcache.Timeout:
                holds[0] = False

    monkeypatch.setattr(control, "time", Pauses(take_again))
    second.acquire(0.010)
    assert not holds[0]
    second.release()
    # Nobody waits, so nobody has to pass the gate.
    first.acquire(0)
    first.release()
    assert first.page[control._GATED] == 0


def test_a_pause_that_is_long_on_a_busy_machine_counts_as_it_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Control(str(tmp_path / "control")), Control(str(tmp_path / "control"))
    first.acquire(None)
    time = Pauses(lambda: first.release() if time.now == 5 else None)
    monkeypatch.setattr(control, "time", time)
    second.acquire(0.010)
    assert time.now == 5
    # But it gives up.
    time.then = lambda: None
    with pytest.raises(diskcache.Timeout):
        first.acquire(0.010)
    assert time.now < 1000


def test_a_gate_whose_keeper_was_killed_opens(tmp_path: Path) -> None:
    one = Control(str(tmp_path / "control"))
    one.page[control._GATED] = 1  # The kernel has freed its lock.
    one.acquire(0)
    assert one.page[control._GATED] == 0
    one.release()


def test_a_fanout_cache_waits_for_as_many_databases(tmp_path: Path) -> None:
    cache = diskcache.FanoutCache(tmp_path, shards=4, timeout=0.010)
    assert cache.timeout == 0.010 and cache._cache.timeout == 0.040
    again = pickle.loads(pickle.dumps(cache))
    assert again.timeout == 0.010 and again._cache.timeout == 0.040
