from __future__ import annotations

from typing import Any, cast

from driver import checks
from driver.worker import Worker


class Fake:
    """A worker that answers by itself. `entries` is the cache that all share."""

    def __init__(self, name: str, entries: dict[str, str], types: tuple[str, ...]) -> None:
        self.name = name
        self.entries = entries
        self.types = types
        self.wrong: dict[str, str] = {}

    def call(self, command: str) -> dict[str, Any]:
        verb, _, rest = command.partition(" ")
        if verb == "write":
            return {"written": list(self.types)}
        if verb == "read":
            return {
                "equal": [name for name in self.types if name not in self.wrong],
                "different": [f"{name}: {read}" for name, read in self.wrong.items()],
            }
        if verb == "set":
            self.entries["last"] = rest
            return {}
        return {"value": self.entries["last"]}


class Stale(Fake):
    """Gives what it read at first, whatever happens."""

    kept: str | None = None

    def call(self, command: str) -> dict[str, Any]:
        answer = super().call(command)
        if command != "get":
            return answer
        self.kept = self.kept or answer["value"]
        return {"value": self.kept}


def fakes(*kinds: type[Fake]) -> list[Any]:
    entries: dict[str, str] = {}
    return [kind(f"w{at}", entries, ("text", "float")) for at, kind in enumerate(kinds)]


def test_the_matrix_has_a_pair_for_each_writer_and_reader() -> None:
    pairs = checks.matrix(cast(list[Worker], fakes(Fake, Fake, Fake)))
    assert len(pairs) == 9
    assert all(pair.good for pair in pairs)


def test_a_value_that_arrives_changed_fails_its_readers_pairs() -> None:
    workers = fakes(Fake, Fake)
    workers[1].wrong = {"float": "2"}
    bad = [pair for pair in checks.matrix(workers) if not pair.good]
    assert [(pair.writer, pair.reader, pair.different) for pair in bad] == [
        ("w0", "w1", ["float: 2"]),
        ("w1", "w1", ["float: 2"]),
    ]


def test_a_reader_that_leaves_a_type_out_fails() -> None:
    workers = fakes(Fake, Fake)
    workers[1].types = ("text",)
    pairs = {(pair.writer, pair.reader): pair for pair in checks.matrix(workers)}
    assert pairs["w0", "w1"].different == ["float was not read"]
    assert not pairs["w0", "w1"].good


def test_each_writers_change_is_read_by_all_others() -> None:
    changes = list(checks.fresh(cast(list[Worker], fakes(Fake, Fake, Fake, Fake))))
    assert len(changes) == 12
    assert all(change.good for change in changes)


def test_a_stale_reader_is_found() -> None:
    changes = list(checks.fresh(cast(list[Worker], fakes(Fake, Stale))))
    assert [(change.reader, change.good) for change in changes] == [("w1", False), ("w0", True)]


def test_a_measure_in_which_nothing_was_compared_is_not_good() -> None:
    assert not checks.Measure("w", 1.0, 1.0, same=0, different=[]).good
    assert not checks.Measure("w", 1.0, 1.0, same=9, different=["key"]).good
    assert checks.Measure("w", 1.0, 1.0, same=9, different=[]).good
