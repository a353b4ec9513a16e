"""`polycache import`: takes over a directory of diskcache's. `python -m
polycache.diskcache.importing` is the same."""

import argparse
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from ..errors import InvalidArgument, NoSpace, PolycacheError
from .cache import Cache
from .constants import MODE_BINARY, MODE_PICKLE, MODE_RAW, MODE_TEXT
from .disk import Disk, JSONDisk
from .pickling import Secret, loads

DATABASE = "cache.db"
FOLDERS = ("cache", "deque", "index")
SECRET_VARIABLE = "POLYCACHE_PICKLE_SECRET"
_DISKS: dict[str, type[Disk]] = {"Disk": Disk, "JSONDisk": JSONDisk}
_LOGS = ("-wal", "-journal")
"""What SQLite writes beside a database. A journal is of one whose writer was killed."""
_PORTION_BYTES = 8 * 2**20
_SETTINGS = ("eviction_policy", "size_limit", "cull_limit", "statistics", "disk_min_file_size")

PICKLED_KEY = "the key is pickled, and pickle was not asked for"
PICKLED_VALUE = "the value is pickled, and pickle was not asked for"
EXPIRED = "expired"
FULL = "its size_limit, of which about 60 % are keys and values, leaves no room"


class Imported(NamedTuple):
    """What one directory brought."""

    directory: str
    """The new one."""
    entries: int
    """How many entries were stored."""
    skipped: dict[str, int]
    """How many were not, by reason."""


def import_directory(
    old: str | os.PathLike[str],
    new: str | os.PathLike[str],
    *,
    pickle_secret: Secret | None = None,
    disk: type[Disk] = Disk,
) -> list[Imported]:
    """Copies what is in a directory of diskcache's: of its Cache, FanoutCache, Deque, Index or
    DjangoCache, with keys, values, expiries and tags, in the order of insertion. Nothing in the old
    directory is changed, and nothing should be writing to it.

    With `pickle_secret` pickles are loaded, so the old directory must be one that you trust, and
    sealed with the secret; without it they are skipped. What is in the new directory stays, but for
    keys that both have.

    Raises `InvalidArgument` when `old` is not a directory of diskcache's, or is the new one.
    """
    source, target = Path(old).expanduser(), Path(new).expanduser()
    found = list(_caches(source, target))
    for into in (target, *(into for _, into in found)):
        _refuse_within(source.resolve(), into.resolve())
    if not found:
        raise InvalidArgument(f"{source} is not a directory of diskcache: it has no {DATABASE}")
    shards = sum(into == target for _, into in found)
    results: dict[Path, Imported] = {}
    for one, into in found:
        entries, skipped = _copied(one, into, pickle_secret, disk, shards if into == target else 1)
        if into in results:
            skipped += Counter(results[into].skipped)
            entries += results[into].entries
        results[into] = Imported(str(into), entries, dict(skipped))
    return list(results.values())


def _refuse_within(source: Path, target: Path) -> None:
    # A cache in the old directory may have the name of a folder that the new one makes.
    if source == target or source in target.parents or target in source.parents:
        raise InvalidArgument("the new directory cannot be the old one, within it, or around it")


def _caches(source: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    """The caches in a directory, with where they go. The shards of a FanoutCache go together."""
    if (source / DATABASE).is_file():
        yield source, target
    shards = [one for one in _folders(source) if one.name.isdigit() and len(one.name) == 3]
    for shard in shards:
        if (shard / DATABASE).is_file():
            yield shard, target
    for kind in FOLDERS:
        for folder in _folders(source / kind):
            yield from _named(folder, target / kind / folder.name)


def _named(source: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    if (source / DATABASE).is_file():
        yield source, target
    else:  # A name with a "/".
        for folder in _folders(source):
            yield from _named(folder, target / folder.name)


def _folders(path: Path) -> list[Path]:
    return sorted(one for one in path.iterdir() if one.is_dir()) if path.is_dir() else []


@contextmanager
def _database(source: Path) -> Iterator[sqlite3.Connection]:
    """A connection that writes nothing beside the database, as SQLite does even for readers of one
    with a write-ahead log."""
    path = source / DATABASE
    logs = [source / (DATABASE + name) for name in _LOGS]
    logs = [log for log in logs if log.exists() and log.stat().st_size > 0]
    if not logs:
        with closing(_connected(path, "immutable=1")) as connection:
            yield connection
        return
    with tempfile.TemporaryDirectory(prefix="polycache-import-") as folder:
        for file in (path, *logs):
            shutil.copyfile(file, Path(folder) / file.name)
        with closing(_connected(Path(folder) / DATABASE, "mode=rw")) as connection:
            yield connection


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path.resolve()))}?{mode}", uri=True)


def _copied(
    source: Path, target: Path, secret: Secret | None, disk: type[Disk], shards: int
) -> tuple[int, Counter[str]]:
    skipped: Counter[str] = Counter()
    count = 0
    with _database(source) as database:
        try:
            settings = dict(database.execute("SELECT key, value FROM Settings"))
            rows = database.execute(
                "SELECT key, raw, expire_time, tag, mode, filename, value, size"
                " FROM Cache ORDER BY rowid"
            )
        except sqlite3.DatabaseError as error:
            raise _damaged(source, error) from None
        kept = {name: settings[name] for name in _SETTINGS if name in settings}
        if "size_limit" in kept:
            kept["size_limit"] *= shards  # Each has its part.
        target.mkdir(parents=True, exist_ok=True)
        with Cache(target, disk=disk, pickle_secret=secret, **kept) as cache:
            for portion in _portions(source, rows):
                count += _stored(cache, source, portion, skipped, secret is not None)
    return count, skipped


def _damaged(source: Path, error: sqlite3.Error) -> InvalidArgument:
    return InvalidArgument(f"{source / DATABASE} is not diskcache's, or is damaged: {error}")


def _portions(source: Path, rows: Iterator[Any]) -> Iterator[list[Any]]:
    """Rows that are stored together: not too many, and not too large."""
    portion: list[Any] = []
    size = 0
    try:
        for row in rows:
            portion.append(row)
            size += row[-1] or 0
            if len(portion) == 500 or size > _PORTION_BYTES:
                yield portion
                portion, size = [], 0
    except sqlite3.DatabaseError as error:
        raise _damaged(source, error) from None
    yield portion


class _Skip(Exception):
    pass


def _stored(
    cache: Cache, source: Path, rows: list[Any], skipped: Counter[str], unpickles: bool
) -> int:
    """Stores some rows in one block, and counts."""
    count = 0
    now = time.time()
    with cache._writing() as store:
        for key, raw, expires, tag, mode, filename, value, size in rows:
            try:
                if expires is not None and expires <= now:
                    raise _Skip(EXPIRED)
                code, seal = _key(cache, key, raw, unpickles)
                if mode == MODE_PICKLE and not unpickles:
                    raise _Skip(PICKLED_VALUE)
                data = value if filename is None else _file(source, filename)
                data = bytes(data) if isinstance(data, memoryview) else data
                if mode == MODE_PICKLE:
                    row = cache._row(code, None, _loaded(data), False, now, expires, tag)
                elif mode in (MODE_RAW, MODE_BINARY, MODE_TEXT):
                    data = data.decode() if mode == MODE_TEXT else data
                    row = cache._row_of(code, mode, data, size, now, expires, tag)
                else:
                    raise _Skip(f"unknown mode {mode}")
                store.check_room()
                cache._put(store, code, seal, row)
                count += 1
                # What goes by the policy, when the old directory was larger than its limit.
                before = store.numbers.count
                cache._make_room(store, now)
                if gone := before - store.numbers.count:
                    skipped[FULL] += gone
                    count -= gone
            except NoSpace:
                skipped[FULL] += 1
            except _Skip as reason:
                skipped[str(reason)] += 1
            except (OSError, PolycacheError, UnicodeDecodeError) as error:
                skipped[f"{type(error).__name__}: {str(error).replace(str(source), '')}"] += 1
    return count


def _key(cache: Cache, key: Any, raw: int, unpickles: bool) -> tuple[bytes, bytes | None]:
    if not raw:
        if not unpickles:
            raise _Skip(PICKLED_KEY)
        return cache._code(_loaded(key))
    # As it is stored: what a disk of another kind makes of keys, it has made already.
    return cache._stored_code(key, True)


def _loaded(data: bytes) -> Any:
    try:
        return loads(data)
    except Exception as error:
        # A class that is gone or has changed raises anything.
        raise _Skip(f"a pickle cannot be loaded: {type(error).__name__}: {error}") from None


def _file(source: Path, name: str) -> bytes:
    path = (source / name).resolve()
    if source.resolve() not in path.parents:
        raise _Skip("its file is outside the directory")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise _Skip("its file is gone") from None


def _secret(file: str | None) -> bytes | None:
    if file is not None:
        data = Path(file).read_bytes()
        # An editor ends a text with a newline; of other bytes each is the secret's.
        return data.rstrip(b"\r\n") if data.isascii() else data
    given = os.environ.get(SECRET_VARIABLE)
    return None if given is None else given.encode()


def main(arguments: Sequence[str] | None = None, name: str = "polycache import") -> int:
    """The command; returns its exit code: 0, or 1 when it could not begin."""
    parser = argparse.ArgumentParser(
        prog=name,
        description="Copies what is in a directory of diskcache's (Cache, FanoutCache, Deque, "
        "Index, DjangoCache) into a new one, for polycache.diskcache. The old directory is not "
        "changed. Stop what writes to it first.",
    )
    parser.add_argument("old", help="the directory of diskcache's")
    parser.add_argument("new", help="the directory of polycache.diskcache's; made if missing")
    parser.add_argument(
        "--pickle",
        action="store_true",
        help="load pickles, too: do this only with a directory that you trust, because a pickle "
        "may run any code. They are sealed with the secret in --secret-file, or else in the "
        f"variable {SECRET_VARIABLE}",
    )
    parser.add_argument("--secret-file", help="a file with the secret, of 16 bytes at least")
    parser.add_argument(
        "--disk", choices=sorted(_DISKS), default="Disk", help="of the old cache (default: Disk)"
    )
    given = parser.parse_args(arguments)
    if given.secret_file is not None and not given.pickle:
        parser.error("--secret-file is for --pickle")
    try:
        secret = _secret(given.secret_file) if given.pickle else None
        if given.pickle and secret is None:
            parser.error(f"--pickle needs --secret-file, or a secret in {SECRET_VARIABLE}")
        results = import_directory(
            given.old, given.new, pickle_secret=secret, disk=_DISKS[given.disk]
        )
    except (PolycacheError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    for result in results:
        print(f"{result.directory}: {result.entries} entries")
        for reason, count in sorted(result.skipped.items()):
            print(f"  skipped {count}: {reason}")
    pickles = sum(
        count
        for result in results
        for reason, count in result.skipped.items()
        if reason in (PICKLED_KEY, PICKLED_VALUE)
    )
    if pickles:
        print("To take pickles over, too, if you trust the directory, ask for it: --pickle")
    return 0


if __name__ == "__main__":
    sys.exit(main(name="python -m polycache.diskcache.importing"))
