"""The real diskcache and ours, asked the same."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import diskcache  # type: ignore[import-untyped]
import diskcache.core  # type: ignore[import-untyped]
import pytest

import polycache.diskcache as ours
import polycache.diskcache.clock

SECRET = b"a secret of the tests' own, 32 bytes long"
NOW = 1_700_000_000.0


class Time:
    """Stands for the module `time` in both."""

    def __init__(self) -> None:
        self.now = NOW

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def patched(monkeypatch: pytest.MonkeyPatch) -> Time:
    """Gives both a time that only the test moves."""
    clock = Time()
    monkeypatch.setattr(diskcache.core, "time", clock)
    monkeypatch.setattr(polycache.diskcache.clock, "time", clock)
    return clock


class Both:
    """Calls both and compares what they return or raise. The last answer is returned."""

    def __init__(self, theirs: Any, mine: Any) -> None:
        self.theirs = theirs
        self.mine = mine

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return self.ask(lambda one: getattr(one, name)(*args, **kwargs))

        return call

    def ask(self, question: Callable[..., Any], *args: Any) -> Any:
        """Asks both a question about themselves."""
        answers = [outcome(partial(question, one, *args)) for one in (self.theirs, self.mine)]
        assert answers[0] == answers[1]
        told, answer = answers[1]
        return answer[0] if told == "returned" else None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.ask(list))


def outcome(call: Callable[[], Any]) -> tuple[str, Any]:
    """What a call returns, or the class and arguments of what it raises."""
    try:
        value = call()
    except Exception as error:
        # Errors of our own are more special than diskcache's.
        kinds = (KeyError, IndexError, ValueError, TypeError, AssertionError)
        kind = next((kind for kind in kinds if isinstance(error, kind)), type(error))
        return "raised", kind.__name__
    if hasattr(value, "fileno"):
        with value:
            return "file", value.read()
    # 1 == True == 1.0, but they are not the same answer.
    return "returned", (value, typed(value))


def typed(value: Any) -> Any:
    """The types in a value."""
    if isinstance(value, list | tuple):
        return type(value).__name__, [typed(part) for part in value]
    return type(value).__name__


def both(folder: Path, kind: str = "Cache", **settings: Any) -> Both:
    """A new pair. Ours pickles, as theirs does."""
    return Both(
        getattr(diskcache, kind)(str(folder / "theirs"), **settings),
        getattr(ours, kind)(str(folder / "mine"), pickle_secret=SECRET, **settings),
    )
