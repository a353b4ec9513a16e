"""The same operations on the real diskcache and on ours, in any order, give the same."""

import io
import operator
import tempfile
from pathlib import Path
from typing import Any

import pytest
from both import Both, both, patched, typed
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

# Floats from 0 to 10**15 are left out: diskcache takes them for keys of a queue.
KEYS = st.sampled_from(
    [
        0, 1001, 1002, -1, 2**63 - 1, 2**64, -1.5, float("inf"), "", "a", "ä", "p-500000000000001",
        "p-500000000000000", 500_000_000_000_002, b"", b"a", b"\xff", (), (1, 2), (1, (None, "x")),
        None, True, False, frozenset([3]), "k" * 1100, "p-x",
    ]
)  # fmt: skip
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8"), max_size=5)
    | st.binary(max_size=5)
    | st.builds(operator.mul, st.sampled_from(["x", "ü", b"y"]), st.sampled_from([2049, 40_000]))
)
VALUES = PLAIN | st.lists(PLAIN, max_size=3) | st.tuples(PLAIN, PLAIN)
EXPIRES = st.none() | st.sampled_from([-1, 0, 1, 5.5, 100])
TAGS = st.sampled_from([None, "red", "blue", 1, 1.5, b"t"])
PREFIXES = st.sampled_from([None, "p", "other"])
SIDES = st.sampled_from(["front", "back"])
POLICIES = ["none", "least-recently-stored", "least-recently-used", "least-frequently-used"]


class Machine(RuleBasedStateMachine):
    both: Both

    @initialize(policy=st.sampled_from(POLICIES), statistics=st.booleans(), has_files=st.booleans())
    def begin(self, policy: str, statistics: bool, has_files: bool) -> None:
        self.has_files = has_files
        self.folder = tempfile.TemporaryDirectory()
        self.patch = pytest.MonkeyPatch()
        self.clock = patched(self.patch)
        # What a write removes of what has expired is not the same.
        self.both = both(
            Path(self.folder.name),
            eviction_policy=policy,
            statistics=statistics,
            cull_limit=0,
            disk_min_file_size=2**15 if has_files else 2**30,
        )

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            assert self.both.mine.check() == []
            self.patch.undo()
            self.both.theirs.close()
            self.both.mine.close()
            self.folder.cleanup()

    @rule(seconds=st.sampled_from([0.5, 1, 10]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule(key=KEYS, value=VALUES, expire=EXPIRES, tag=TAGS)
    def set(self, key: Any, value: Any, expire: Any, tag: Any) -> None:
        self.both.set(key, value, expire=expire, tag=tag)

    @rule(key=KEYS, value=VALUES, expire=EXPIRES, tag=TAGS)
    def add(self, key: Any, value: Any, expire: Any, tag: Any) -> None:
        self.both.add(key, value, expire=expire, tag=tag)

    @rule(key=KEYS, delta=st.sampled_from([1, -3, 0.5]), default=st.sampled_from([0, 10, None]))
    def incr(self, key: Any, delta: Any, default: Any) -> None:
        # Beyond 64 bits ours counts on.
        found = self.both.get(key)
        if isinstance(found, int) and abs(found) > 2**62:
            return
        self.both.incr(key, delta, default)
        self.both.decr(key, delta, default)

    @rule(key=KEYS, expire_time=st.booleans(), tag=st.booleans())
    def get(self, key: Any, expire_time: bool, tag: bool) -> None:
        self.both.get(key, "default", expire_time=expire_time, tag=tag)
        self.both.ask(lambda one: key in one)

    @rule(key=KEYS)
    def item(self, key: Any) -> None:
        self.both.ask(lambda one: one[key])

    @rule(key=KEYS, expire_time=st.booleans(), tag=st.booleans())
    def pop(self, key: Any, expire_time: bool, tag: bool) -> None:
        self.both.pop(key, "default", expire_time=expire_time, tag=tag)

    @rule(key=KEYS)
    def delete(self, key: Any) -> None:
        self.both.delete(key)

    @rule(key=KEYS)
    def delete_item(self, key: Any) -> None:
        self.both.ask(lambda one: one.__delitem__(key))

    @rule(key=KEYS, expire=EXPIRES)
    def touch(self, key: Any, expire: Any) -> None:
        self.both.touch(key, expire)

    @rule(key=KEYS)
    def read(self, key: Any) -> None:
        self.both.get(key, "default", read=True)

    @rule(
        key=KEYS, size=st.sampled_from([0, 5, 40_000]), expire=EXPIRES, tag=TAGS, adds=st.booleans()
    )
    def write_file(self, key: Any, size: int, expire: Any, tag: Any, adds: bool) -> None:
        # diskcache makes a file of it in any case, which a rollback loses.
        self.has_files = True

        def write(one: Any) -> Any:
            file = io.BytesIO(b"f" * size)
            write = one.add if adds else one.set
            return write(key, file, expire=expire, read=True, tag=tag), file.tell()

        self.both.ask(write)

    @rule(key=KEYS)
    def read_file(self, key: Any) -> None:
        def read(one: Any) -> Any:
            with one.read(key) as file:
                return file.read(3), file.seek(1), file.read(), file.readable(), file.writable()

        self.both.ask(read)

    @rule(reverse=st.booleans())
    def keys_in_order(self, reverse: bool) -> None:
        def keys(one: Any) -> Any:
            found = one.iterkeys(reverse=reverse)
            return [key for key in found if type(key) in (str, bytes, float)]

        self.both.ask(keys)

    @rule(value=VALUES, prefix=PREFIXES, side=SIDES, expire=EXPIRES, tag=TAGS)
    def push(self, value: Any, prefix: Any, side: str, expire: Any, tag: Any) -> None:
        self.both.push(value, prefix=prefix, side=side, expire=expire, tag=tag)

    @rule(prefix=PREFIXES, side=SIDES, expire_time=st.booleans(), tag=st.booleans())
    def pull(self, prefix: Any, side: str, expire_time: bool, tag: bool) -> None:
        self.both.pull(prefix, side=side, expire_time=expire_time, tag=tag)

    @rule(prefix=PREFIXES, side=SIDES)
    def peek(self, prefix: Any, side: str) -> None:
        self.both.peek(prefix, side=side)

    @rule(last=st.booleans(), expire_time=st.booleans(), tag=st.booleans())
    def peekitem(self, last: bool, expire_time: bool, tag: bool) -> None:
        self.both.peekitem(last, expire_time, tag)

    @rule(tag=TAGS)
    def evict(self, tag: Any) -> None:
        self.both.evict(tag)

    @rule(later=st.sampled_from([None, 3]))
    def expire(self, later: Any) -> None:
        self.both.expire(None if later is None else self.clock.now + later)

    @rule()
    def cull(self) -> None:
        self.both.cull()

    @rule()
    def clear(self) -> None:
        self.both.clear()

    @rule(reset=st.booleans(), enable=st.booleans())
    def stats(self, reset: bool, enable: bool) -> None:
        self.both.stats(enable, reset)

    @rule(
        steps=st.lists(st.tuples(KEYS, VALUES | st.just("delete"), EXPIRES), max_size=4),
        fails=st.booleans(),
        clears=st.booleans(),
    )
    def transact(self, steps: list[Any], fails: bool, clears: bool) -> None:
        def run(one: Any) -> Any:
            seen: list[Any] = []
            try:
                with one.transact():
                    if clears:
                        seen.append(one.clear())
                    for key, value, expire in steps:
                        with one.transact():
                            if value == "delete":
                                seen.append(one.pop(key))
                            else:
                                seen.append(one.set(key, value, expire))
                        seen += [one.get(key), len(one), one.push(value, "p")]
                    seen.append(list(one))
                    # diskcache loses files when it rolls back, and then peeks for ever.
                    if fails and not self.has_files:
                        raise KeyError
            except KeyError:
                seen.append("failed")
            return seen

        self.both.ask(run)

    @rule()
    def reopen(self) -> None:
        self.both.close()

    @invariant()
    def agree(self) -> None:
        if not hasattr(self, "both"):
            return
        self.both.ask(list)
        self.both.ask(lambda one: list(reversed(one)))
        self.both.ask(len)
        # Compounds have another order.
        raw = (str, bytes, int, float)
        self.both.ask(
            lambda one: [key for key in one.iterkeys() if type(key) in raw and key != 2**64]
        )
        assert typed(sorted(map(repr, self.both.theirs.iterkeys()))) == typed(
            sorted(map(repr, self.both.mine.iterkeys()))
        )


Machine.TestCase.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
TestBoth = Machine.TestCase


@pytest.mark.parametrize("last", [False, True])
def test_a_look_for_an_item_removes_what_expired_even_if_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: bool
) -> None:
    patched(monkeypatch)
    pair = both(tmp_path, eviction_policy="none", cull_limit=0)
    for key in range(3):
        pair.add(key, None, expire=-1)
    assert pair.ask(list) == [0, 1, 2]
    pair.peekitem(last)
    assert pair.ask(list) == []
    pair.close()
