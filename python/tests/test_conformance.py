"""The cases of spec/conformance; their form is described in the README there."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
import redis
from conftest import Clock
from servers import INSTALLED, Server, started
from tagged import EPOCH, as_python_has_it, tagged_of, value_of

from polycache import DELETE, LEAVE, MISSING, Cache, Lease, PolycacheError

FOLDER = Path(__file__).resolve().parents[2] / "spec" / "conformance"
CAPABILITIES = {"atomic", "dynamic", "invalid_text", "limited", "own_key"}
MISS = {"miss": True}


class LoaderFailed(Exception):
    """The runner's own error, which get_or_set hands on."""

    code = "loader_failed"


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{file.stem}: {case['name']}")
        for file in sorted(FOLDER.glob("*.json"))
        for case in json.loads(file.read_text("utf-8"))
    ]


TIERS: dict[str, dict[str, Any]] = {
    "memory and host": {},
    "memory and host, shared objects": {"memory": {"isolation": "none"}},
    "host alone": {"memory": False},
    "memory alone": {},
    "remote": {},
    "remote, read through": {"max_staleness": 0},
    "remote and host": {},
    "remote by a client, and host": {},
    "lmdb": {"store": "lmdb"},
    "files": {"store": "files"},
    "dbm": {"store": "dbm"},
    "rocksdb": {"store": "rocksdb"},
}
ALONE = {"memory alone", "remote", "remote, read through"}
"""Those without a directory."""
REMOTE = {tiers for tiers in TIERS if tiers.startswith("remote")}
"""Those on a server, which holds entries of any size."""
_number = count()


@pytest.fixture(scope="module")
def server() -> Iterator[Server | None]:
    if not INSTALLED:
        yield None
        return
    with started(INSTALLED[0]) as server:
        yield server


@pytest.mark.parametrize("tiers", TIERS)
@pytest.mark.parametrize("case", cases())
def test_case(
    case: dict[str, Any], tiers: str, tmp_path: Path, clock: Clock, server: Server | None
) -> None:
    case = dict(case)
    has_host = tiers not in ALONE
    remote: dict[str, Any] = {}
    if tiers in REMOTE:
        if server is None:
            pytest.skip("no server is installed")
        client = redis.Redis(port=server.port) if "client" in tiers else server.url
        # Each case has keys of its own.
        remote = {"remote": client, "prefix": f"case-{next(_number)}", "timeout": "20s"}
    can = CAPABILITIES | ({"host"} if has_host else set())
    missing = set(case.pop("requires", ())) - (can - {"limited"} if remote else can)
    if missing:
        pytest.skip(f"Python has no {missing} with {tiers}")
    run = Run(tmp_path if has_host else None, clock, TIERS[tiers] | remote)
    try:
        run.open("cache", ({"limit": "4MiB"} if has_host else {}) | case.pop("options", {}))
        case.pop("name")
        for step in case.pop("steps"):
            run.step(step)
        assert not case, "keys that the README does not describe"
    finally:
        for lease in run.leases.values():
            lease.release()
        for handle in run.handles.values():
            handle.close()


def duration_of(given: Any) -> Any:
    """The language's own type is a number of seconds."""
    return float(given["ms"]) / 1000 if isinstance(given, dict) else given


def keys_of(given: Any) -> Any:
    """The options `encryption` and `dictionaries`: the bytes in them are tagged."""
    if isinstance(given, dict):
        if set(given) == {"bytes"}:
            return value_of(given)
        return {name: keys_of(one) for name, one in given.items()}
    return [keys_of(one) for one in given] if isinstance(given, list) else given


def found(value: Any) -> Any:
    return MISS if value is MISSING else tagged_of(value)


def left_of(seconds: float) -> Any:
    """The time that an entry has left, as cases have it."""
    return "forever" if seconds == float("inf") else round(seconds * 1000)


def several(keys: Any) -> Any:
    """A single key, where a list is wanted, is passed on as it is."""
    return [value_of(key) for key in keys] if isinstance(keys, list) else value_of(keys)


def values_in(given: dict[str, Any]) -> dict[str, Any]:
    """`by` and `initial` are tagged, lifetimes are not."""
    return {
        name: value_of(one) if name in ("by", "initial") else one for name, one in given.items()
    }


def pairs(values: dict[Any, Any]) -> list[Any]:
    return in_order([tagged_key(key), tagged_of(value)] for key, value in values.items())


def tagged_key(key: str | bytes) -> Any:
    """get_many answers with the keys as they were given; text and its bytes are one key."""
    if isinstance(key, bytes):
        with suppress(UnicodeDecodeError):
            return key.decode()
    return tagged_of(key)


def in_order(given: Any) -> list[Any]:
    return sorted(given, key=repr)


class Run:
    """One case under way."""

    def __init__(self, folder: Path | None, clock: Clock, tiers: dict[str, Any]) -> None:
        self.folder = folder
        self.tiers = tiers
        self.clock = clock
        self.handles: dict[str, Cache] = {}
        self.leases: dict[str, Lease] = {}
        self.versions: dict[str, int] = {}

    def open(self, name: str, options: dict[str, Any], directory: str = "main") -> None:
        for option in {"ttl", "time_to_idle", "lease_timeout", "wait_timeout"} & options.keys():
            options = options | {option: duration_of(options[option])}
        for option in {"encryption", "dictionaries"} & options.keys():
            options = options | {option: keys_of(options[option])}
        path = MISSING if self.folder is None else self.folder / directory
        tiers = dict(self.tiers)
        if "prefix" in tiers:
            tiers["prefix"] += f"-{directory}"
        opened = Cache(path, **tiers, **options, clock=self.clock)
        self.handles[name] = opened

    def step(self, given: dict[str, Any]) -> None:
        step = dict(given)
        error, path = step.pop("error", None), step.pop("path", None)
        expects = "result" in step
        expected = step.pop("result", None)
        operation: Callable[..., Any] = getattr(self, f"do_{step.pop('op')}")
        handle = self.handles.get(step.pop("on", "cache"))
        if "ttl" in step:
            step["ttl"] = duration_of(step["ttl"])
        if "expires_at" in step:
            step["expires_at"] = EPOCH + timedelta(milliseconds=step["expires_at"])
        if error is None:
            result = operation(handle, **step)
            if expects:
                assert result == self.expected(given["op"], expected), given
            return
        with pytest.raises((PolycacheError, LoaderFailed)) as failure:
            operation(handle, **step)
        assert getattr(failure.value, "code", None) == error, given
        if path is not None:
            assert getattr(failure.value, "path", None) == path, given

    @staticmethod
    def expected(operation: str, result: Any) -> Any:
        match operation:
            case "get" | "peek" | "take" | "entry" | "update" | "version" if result == MISS:
                return MISS
            case "get" | "peek" | "take" | "get_or_set" | "update" | "increment" | "decrement":
                return as_python_has_it(result)
            case "entry":
                return result | {"value": as_python_has_it(result["value"])}
            case "get_many" | "get_or_set_many":
                return in_order([[as_python_has_it(one) for one in pair] for pair in result])
            case "keys":
                return in_order(as_python_has_it(key) for key in result)
        return result

    # Each operation with the arguments that the README gives it; another one is a TypeError.

    def do_get(self, on: Cache, key: Any) -> Any:
        return found(on.get(value_of(key), MISSING))

    def do_peek(self, on: Cache, key: Any) -> Any:
        return found(on.peek(value_of(key), MISSING))

    def do_take(self, on: Cache, key: Any) -> Any:
        return found(on.take(value_of(key), MISSING))

    def do_touch(self, on: Cache, key: Any, **ttl: Any) -> Any:
        return on.touch(value_of(key), **ttl)

    def do_entry(self, on: Cache, key: Any) -> Any:
        entry = on.entry(value_of(key))
        if entry is None:
            return MISS
        facts = asdict(entry)
        del facts["version"]
        return facts | {"value": tagged_of(entry.value), "ttl": left_of(entry.ttl)}

    def do_delete_prefix(self, on: Cache, prefix: Any) -> Any:
        return on.delete_prefix(value_of(prefix))

    def do_set(self, on: Cache, key: Any, value: Any, **ttl: Any) -> None:
        on.set(value_of(key), value_of(value), **ttl)

    def do_add(self, on: Cache, key: Any, value: Any, **ttl: Any) -> Any:
        return on.add(value_of(key), value_of(value), **ttl)

    def do_replace(self, on: Cache, key: Any, value: Any, **ttl: Any) -> Any:
        return on.replace(value_of(key), value_of(value), **ttl)

    def do_version(self, on: Cache, key: Any, **named: str) -> Any:
        name = named.pop("as")
        assert not named
        entry = on.entry(value_of(key))
        if entry is None:
            return MISS
        self.versions[name] = entry.version
        return None

    def do_compare_and_set(self, on: Cache, key: Any, version: Any, value: Any, **ttl: Any) -> Any:
        seen = self.versions[version] if isinstance(version, str) else value_of(version)
        return on.compare_and_set(value_of(key), seen, value_of(value), **ttl)

    def do_increment(self, on: Cache, key: Any, **given: Any) -> Any:
        return tagged_of(on.increment(value_of(key), **values_in(given)))

    def do_decrement(self, on: Cache, key: Any, **given: Any) -> Any:
        return tagged_of(on.decrement(value_of(key), **values_in(given)))

    def do_update(
        self,
        on: Cache,
        key: Any,
        returns: Any,
        sees: Any = MISSING,
        during: Any = (),
        **ttl: Any,
    ) -> Any:
        seen: list[Any] = []

        def function(value: Any) -> Any:
            seen.append(found(value))
            for step in during:
                self.step(step)
            match returns:
                case {"delete": True}:
                    return DELETE
                case {"leave": True}:
                    return LEAVE
                case {"error": True}:
                    raise LoaderFailed
            return value_of(returns)

        try:
            return found(on.update(value_of(key), function, MISSING, **ttl))
        finally:
            if sees is not MISSING:
                assert seen == [MISS if one == MISS else as_python_has_it(one) for one in sees]

    def do_delete(self, on: Cache, key: Any) -> Any:
        return on.delete(value_of(key))

    def do_has(self, on: Cache, key: Any) -> Any:
        there = on.has(value_of(key))
        assert (value_of(key) in on) is there
        return there

    def do_ttl(self, on: Cache, key: Any) -> Any:
        left = on.ttl(value_of(key))
        return MISS if left is None else left_of(left)

    def do_get_many(self, on: Cache, keys: Any) -> Any:
        return pairs(on.get_many(several(keys)))

    def do_set_many(self, on: Cache, entries: list[Any], **ttl: Any) -> None:
        on.set_many({value_of(key): value_of(value) for key, value in entries}, **ttl)

    def do_delete_many(self, on: Cache, keys: Any) -> Any:
        return on.delete_many(several(keys))

    def do_get_or_set(
        self, on: Cache, key: Any, loads: Any = MISSING, during: Any = (), **ttl: Any
    ) -> Any:
        loaded = []

        def loader() -> Any:
            loaded.append(1)
            for step in during:
                self.step(step)
            if loads == {"error": True}:
                raise LoaderFailed
            return value_of(loads)

        try:
            return tagged_of(on.get_or_set(value_of(key), loader, **ttl))
        finally:
            assert len(loaded) == (loads is not MISSING)

    def do_get_or_set_many(
        self,
        on: Cache,
        keys: Any,
        asked: Any = MISSING,
        loads: Any = MISSING,
        during: Any = (),
        **ttl: Any,
    ) -> Any:
        loaded: list[Any] = []

        def loader(keys: list[Any]) -> dict[Any, Any]:
            loaded.append(in_order(tagged_key(key) for key in keys))
            for step in during:
                self.step(step)
            if loads == {"error": True}:
                raise LoaderFailed
            return {value_of(key): value_of(value) for key, value in loads}

        try:
            return pairs(on.get_or_set_many(several(keys), loader, **ttl))
        finally:
            expected = (
                [] if asked is MISSING else [in_order(tagged_key(value_of(k)) for k in asked)]
            )
            assert loaded == expected

    def do_lease(self, on: Cache, key: Any, **named: str) -> None:
        self.leases[named.pop("as")] = on.lease(value_of(key))
        assert not named

    def do_acquire(self, _: Cache, lease: str, wait: Any = MISSING) -> Any:
        given = () if wait is MISSING else (duration_of(wait),)
        return self.leases[lease].acquire(*given)

    def do_release(self, _: Cache, lease: str) -> None:
        self.leases[lease].release()

    def do_locked(self, _: Cache, lease: str) -> Any:
        return self.leases[lease].locked()

    def do_keys(self, on: Cache, prefix: Any = "") -> Any:
        return in_order(tagged_of(key) for key in on.keys(value_of(prefix)))

    def do_clear(self, on: Cache) -> None:
        on.clear()

    def do_flush(self, on: Cache) -> None:
        on.flush()

    def do_close(self, on: Cache) -> None:
        on.close()

    def do_stats(self, on: Cache, field: str) -> Any:
        stats = on.stats()
        if "remote" in self.tiers and field in {"entries", "limit"}:
            return ANY  # Those of the copies on this host.
        return getattr(stats, field)

    def do_check(self, on: Cache) -> Any:
        return len(on.check().damaged)

    def do_namespace(self, on: Cache, part: Any, **named: str) -> None:
        self.handles[named.pop("as")] = on.namespace(part)
        assert not named

    def do_open(self, _: Cache, options: Any, directory: str = "main", **named: str) -> None:
        self.open(named.pop("as"), options, directory)
        assert not named

    def do_advance(self, _: Cache, ms: int) -> None:
        self.clock.now += ms
