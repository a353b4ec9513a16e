"""Items that cannot be loaded: of a class that has changed, of a disk that fails, or pickled under
another secret."""

from pathlib import Path
from typing import Any

import diskcache  # type: ignore[import-untyped]
import pytest
from both import SECRET, Both, both

import polycache
import polycache.diskcache as ours


class Changed:
    """It can be pickled, and not be loaded."""

    def __reduce__(self) -> Any:
        return int, ("x",)


def test_a_queue_goes_on_behind_one(tmp_path: Path) -> None:
    pair = both(tmp_path)
    for prefix in (None, "p"):
        for value in (Changed(), "good", (Changed(), "x" * 5000), Changed()):
            pair.push(value, prefix)
        pair.peek(prefix)
        for side in ("front", "back", "front", "front", "front"):
            pair.pull(prefix, side=side)
    pair.ask(len)


def test_what_was_taken_is_gone(tmp_path: Path) -> None:
    pair = both(tmp_path)
    for key in ("a", "b"):
        pair.set(key, Changed())
    pair.get("a")
    pair.pop("a")
    pair.peekitem()
    pair.ask(list)

    def within(cache: Any) -> Any:
        """The block goes on, and keeps what it has changed."""
        with cache.transact():
            cache.push(Changed())
            cache.push("next")
            with pytest.raises(ValueError):
                cache.pull()
            cache["c"] = cache.pull()[1]
        return list(cache), cache["c"]

    pair.ask(within)
    pair.ask(lambda one: one.pop("b"))
    pair.ask(list)


def test_a_deque_and_an_index_go_on(tmp_path: Path) -> None:
    def run(deque: Any, index: Any) -> Any:
        told = []
        deque.extend([Changed(), 1, 2, Changed()])
        index["k"] = Changed()
        calls = [
            deque.peek, deque.peekleft, deque.pop, deque.popleft, deque.pop, deque.popleft,
            index.popitem, lambda: index.pop("k"), index.popitem,
        ]  # fmt: skip
        for call in calls:
            try:
                told.append(call())
            except (ValueError, KeyError) as error:
                told.append(type(error).__name__)
        return told

    folders = [str(tmp_path / name) for name in ("td", "ti", "md", "mi")]
    theirs = run(diskcache.Deque(directory=folders[0]), diskcache.Index(folders[1]))
    ours.use_pickle(SECRET)
    try:
        mine = run(ours.Deque(directory=folders[2]), ours.Index(folders[3]))
    finally:
        ours.use_pickle(None)
    assert mine == theirs
    assert mine[2:6] == ["ValueError", "ValueError", 2, 1]


def failing(base: Any) -> Any:
    class Failing(base):  # type: ignore[misc]
        def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> Any:
            found = super().fetch(mode, filename, value, read)
            if found == ["bad"]:
                raise ValueError
            return [found]

    return Failing


def test_a_disk_that_fails(tmp_path: Path) -> None:
    pair = Both(
        diskcache.Cache(str(tmp_path / "theirs"), disk=failing(diskcache.Disk)),
        ours.Cache(tmp_path / "mine", disk=failing(ours.Disk)),
    )
    pair.push(["bad"])
    pair.push([1])
    pair.set("k", [2])

    def within(cache: Any) -> Any:
        with cache.transact():
            return cache["k"], cache.peekitem()

    pair.ask(within)
    for _ in range(3):
        pair.pull()


def test_who_has_not_the_secret_removes_nothing(tmp_path: Path) -> None:
    with ours.Cache(tmp_path, pickle_secret=SECRET) as cache:
        cache.push((1, Changed()))
        cache["k"] = (2,)
    kinds: list[tuple[Any, type[Exception]]] = [
        (None, ours.PickleNeeded), (b"another secret" * 2, ours.InvalidSeal)
    ]  # fmt: skip
    for secret, error in kinds:
        other = ours.Cache(tmp_path, pickle_secret=secret)
        for call in (other.pull, other.peek, other.peekitem, lambda one=other: one.pop("k")):
            with pytest.raises(error):
                call()
        assert len(other) == 2 and issubclass(error, polycache.PolycacheError)
