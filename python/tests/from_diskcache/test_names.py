"""What diskcache has a name for has one here, too."""

import importlib
import inspect
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diskcache  # type: ignore[import-untyped]
import pytest
from both import both, patched

import polycache.diskcache as ours

# docs/diskcache.md: no value has a file of its own.
WITHOUT = {"Disk": {"filename", "remove"}, "JSONDisk": {"filename", "remove"}}
CLASSES = [
    name
    for name in dir(diskcache)
    if inspect.isclass(getattr(diskcache, name)) and name != "DjangoCache"
]


def public(one: Any) -> set[str]:
    return {name for name in dir(one) if not name.startswith("_")}


def test_the_module_has_all_names() -> None:
    modules = {"cli", "core", "fanout", "persistent", "recipes", "djangocache"}
    missing = {name for name in public(diskcache) - modules if not hasattr(ours, name)}
    assert missing == set() and ours.__version__ == diskcache.__version__


@pytest.mark.parametrize("name", ["core", "fanout", "persistent", "recipes", "djangocache"])
def test_its_modules_have_the_names_that_programs_import(name: str) -> None:
    if name == "djangocache":
        pytest.importorskip("django")
    theirs = importlib.import_module(f"diskcache.{name}")
    mine = importlib.import_module(f"polycache.diskcache.{name}")
    defined = {
        key
        for key in public(theirs)
        if getattr(getattr(theirs, key), "__module__", None) == f"diskcache.{name}"
    }
    assert {key for key in defined if not hasattr(mine, key)} == set()


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_all_names_and_arguments(name: str) -> None:
    theirs, mine = getattr(diskcache, name), getattr(ours, name)
    names = public(theirs) - WITHOUT.get(name, set())
    assert names - public(mine) == set()
    for method in names:
        if not inspect.isfunction(getattr(theirs, method)):
            continue
        wanted = inspect.signature(getattr(theirs, method)).parameters
        found = inspect.signature(getattr(mine, method)).parameters
        assert set(wanted) - set(found) == set(), method


@pytest.mark.parametrize("kind", ["Cache", "FanoutCache"])
def test_a_transaction_decorates(kind: str, tmp_path: Path) -> None:
    pair = both(tmp_path, kind)

    def run(cache: Any) -> Any:
        @cache.transact(retry=True)  # type: ignore[untyped-decorator]
        def down(number: int, fails: bool = False) -> int:
            """Counts."""
            cache.set(number, "x")
            if fails:
                raise KeyError
            return 0 if number == 0 else 1 + int(down(number - 1))

        answers = [down(2), down(1)]
        with pytest.raises(KeyError):
            down(9, fails=True)
        return answers, sorted(cache), down.__name__, down.__doc__

    pair.ask(run)


def test_a_deque_s_and_an_index_s_transaction(tmp_path: Path) -> None:
    pair = both(tmp_path)

    def run(one: Any, module: Any) -> Any:
        deque = module.Deque([1, 2], str(Path(one.directory) / "deque"))
        index = module.Index(str(Path(one.directory) / "index"), a=1)
        try:
            with deque.transact(), index.transact():
                deque.append(deque.popleft())
                with deque.transact():
                    deque.clear()
                index["b"] = 2
                raise KeyError
        except KeyError:
            pass
        with deque.transact():
            deque.append(3)
        return list(deque), list(index)

    assert run(pair.theirs, diskcache) == run(pair.mine, ours) == ([1, 2, 3], ["a"])


def test_counts_are_attributes(tmp_path: Path) -> None:
    pair = both(tmp_path, statistics=True)
    for name in ("count", "size", "hits", "misses"):
        assert getattr(pair.theirs, name) == getattr(pair.mine, name) == 0
    mine = pair.mine
    mine["k"] = 1
    mine.get("k"), mine.get("none"), mine.get("none")
    assert (mine.count, mine.hits, mine.misses) == (1, 1, 2) and mine.size > 0
    pair.theirs.set("k", 1)
    pair.reset("count")
    assert mine.reset("hits", 5) == mine.hits == 5


def test_a_timeout_tells_how_many_entries_were_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = patched(monkeypatch)
    cache = ours.Cache(tmp_path, timeout=0.01, cull_limit=0)
    with cache.transact():
        for number in range(250):
            cache.set(number, 1, expire=1, tag="t")
    clock.now += 10
    other = ours.Cache(tmp_path)
    held, done = threading.Event(), threading.Event()
    block = other.transact()

    def hold() -> None:
        with block:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    calls: list[Callable[[], int]] = [
        lambda: cache.evict("t"), cache.expire, cache.cull, cache.clear
    ]  # fmt: skip
    try:
        for call in calls:
            with pytest.raises(ours.Timeout) as error:
                call()
            assert error.value.args == (0,)
    finally:
        done.set()
        thread.join()
    # After the first hundred.
    real = cache._writing
    blocks = iter([0.01, 0])

    def writing(retry: bool = True, together: bool = False) -> Any:
        if next(blocks) == 0:
            raise ours.Timeout
        return real(retry, together)

    monkeypatch.setattr(cache, "_writing", writing)
    with pytest.raises(ours.Timeout) as error:
        cache.evict("t")
    assert error.value.args == (100,) and len(cache) == 150
