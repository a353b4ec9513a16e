"""Every error of spec/errors.md is a class with the facts of its row."""

import os
import pickle
from pathlib import Path

import pytest

import polycache
from polycache import Cache, errors

TABLE = Path(__file__).resolve().parents[2] / "spec" / "errors.md"


def rows() -> set[tuple[str, str, bool]]:
    """Code, class and retryable of the errors that Python has."""
    cells = [line.strip("| ").split(" | ") for line in TABLE.read_text("utf-8").splitlines()]
    return {
        (row[0].strip("`"), row[1].strip("`"), row[-1] == "yes")
        for row in cells
        if len(row) == 4 and row[0].startswith("`") and not row[2].startswith("Rust only")
    }


def test_the_classes_are_those_of_the_table() -> None:
    classes = polycache.PolycacheError.__subclasses__()
    # Of cached reads, which not every language has: it stands below the table.
    own = {("uncacheable_read", "UncacheableRead", False)}
    assert {(kind.code, kind.__name__, kind.retryable) for kind in classes} == rows() | own
    for kind in classes:
        assert getattr(polycache, kind.__name__) is kind
        assert kind.__name__ in polycache.__all__


def test_errors_that_python_has_too() -> None:
    assert issubclass(polycache.InvalidArgument, ValueError)
    assert issubclass(polycache.InvalidKey, TypeError)
    assert issubclass(polycache.UnsupportedValue, TypeError)
    assert issubclass(polycache.IoError, OSError)


def test_an_error_survives_pickling() -> None:
    error = errors.from_code("unsupported_value", "cannot", path="$.a")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.path, type(copy)) == ("cannot", "$.a", polycache.UnsupportedValue)
    for kind in polycache.PolycacheError.__subclasses__():
        assert str(pickle.loads(pickle.dumps(kind("why")))) == "why"


def test_sizes_are_told(cache: Cache) -> None:
    with pytest.raises(polycache.EntryTooLarge) as error:
        cache.set("k", "x" * 2_000_000)
    assert error.value.size > 2_000_000 > error.value.limit > 500_000
    assert not error.value.retryable


def test_what_the_operating_system_says_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(polycache.IoError, match="directory"):
        Cache(tmp_path / "file" / "cache")


def test_a_loader_s_error_comes_through_unchanged(cache: Cache) -> None:
    failure = KeyError("gone")

    def loader() -> None:
        raise failure

    with pytest.raises(KeyError) as raised:
        cache.get_or_set("k", loader)
    assert raised.value is failure
    assert cache.check().leases == 0
    assert cache.get_or_set("k", lambda: "next") == "next"


def test_an_interrupted_loader_frees_its_key(cache: Cache) -> None:
    def loader() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.get_or_set("k", loader)
    assert cache.check().leases == 0
    assert cache.get_or_set("k", lambda: "next") == "next"


def test_the_message_of_a_key_says_what_it_is(cache: Cache) -> None:
    with pytest.raises(polycache.InvalidKey, match="not int"):
        cache.get(1)  # type: ignore[arg-type]
    with pytest.raises(polycache.InvalidKey, match="not pathlib"):
        cache.get(Path(os.sep))  # type: ignore[arg-type]
