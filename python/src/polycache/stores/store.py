"""What every store is: bytes under keys, in a folder of its own."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

Durability = Literal["none", "kill", "synced"]
"""What becomes of a write that returned: "none", it may be lost when a process is killed; "kill",
it survives that, and may be lost when the machine stops; "synced", it survives that, too."""

Ended = Literal["closed", "killed", "power lost"]
"""How the last process that had the store open ended. After "power lost" files may be torn: a store
that cannot tell begins anew. It is only told to stores that did not wait for the disk."""


@dataclass(frozen=True, slots=True)
class Opening:
    """How a store is to be opened."""

    folder: Path
    """The store's own folder; it exists."""
    limit: int
    """Bytes that it may take. The cache evicts before that; a store may refuse what is above, with
    `polycache.NoSpace`, and is asked again after further evictions."""
    ended: Ended
    alone: bool
    """Whether no other process has it open now, nor opens it meanwhile."""
    read_only: bool
    """Whether nothing may be written."""
    durability: Durability


class Store(ABC):
    """Bytes under keys. One object serves all handles that a process has on a directory.

    Its methods are called from many threads at once, but those that change one key one after the
    other. An error is any exception; `NoSpace`, or an OSError that says so, means that there may be
    room after a deletion.
    """

    name: ClassVar[str] = ""
    """A directory is only opened by stores of the same name. Default: the class' own."""
    durabilities: ClassVar[tuple[Durability, ...]] = ("none",)
    """The classes that it can have; the first is the default."""
    processes: ClassVar[bool] = False
    """Whether several processes may have it open at once."""
    counts: ClassVar[bool] = False
    """Whether `put` and `delete` return by how many bytes the store grew. Otherwise `size` is
    called each time that a part of the limit was written, and should be quick."""
    has_files: ClassVar[bool] = False
    """Whether each value is a file, and the three methods for that are defined: then `cache.open`
    reads and writes piece by piece."""
    max_key: ClassVar[int] = 2**31
    """Most bytes of a key, 64 at least. Longer ones come as their beginning and a hash."""
    max_value: ClassVar[int] = 2**40
    """Most bytes of a value."""

    @abstractmethod
    def __init__(self, opening: Opening) -> None:
        """Opens it."""

    @abstractmethod
    def get(self, key: bytes) -> bytes | None:
        """What is stored under the key."""

    @abstractmethod
    def put(self, key: bytes, value: bytes) -> int | None:
        """Stores a value, in the place of what was there."""

    @abstractmethod
    def delete(self, key: bytes) -> int | None:
        """Deletes the key, if it is there."""

    @abstractmethod
    def scan(self, prefix: bytes, cursor: bytes | None) -> tuple[list[bytes], bytes | None]:
        """Some keys that begin with `prefix`, and the cursor to go on from: None at the beginning
        and at the end. A key that stays throughout comes exactly once."""

    @abstractmethod
    def size(self) -> int:
        """Bytes of the disk that it takes."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of it. Later calls are errors."""

    def pop(self, key: bytes, most: int) -> tuple[bytes | None, int | None]:
        """Deletes the key, and returns the beginning of what it had, `most` bytes or more if there
        are so many (None, if it was not there), and what `delete` returns. For a store that does
        both in less time than `get` and `delete`, which are called where it is not defined."""
        raise NotImplementedError

    def new_file(self) -> tuple[int, str | None]:
        """A file to write a value in, that nobody reads: an open descriptor, and its name, if it
        has one. The cache closes the first and removes the second."""
        raise NotImplementedError

    def put_file(
        self, key: bytes, file: tuple[int, str | None], head: bytes, tail: bytes, end: int
    ) -> int | None:
        """As `put`, of what was written in a file of `new_file`, once `head` is written at its
        beginning, where room was left, and `tail` at the place `end`. May be called again after
        `NoSpace`."""
        raise NotImplementedError

    def open_file(self, key: bytes) -> int | None:
        """The descriptor of an open file with what is stored under the key, which stays the same
        when the key is changed. The cache closes it."""
        raise NotImplementedError

    def reclaim(self) -> None:
        """Gives back the space of what was deleted. For a store that keeps it until it is asked;
        where it is not defined, `size` should fall as keys are deleted."""
        return

    def flush(self) -> None:
        """Writes everything to the disk, and waits for it; nothing where every write does."""
        return
