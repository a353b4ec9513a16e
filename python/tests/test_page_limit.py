"""The file of a Berkeley DB B-tree and its limit; the B-tree itself is in test_stores.py."""

import errno
from typing import Any

import pytest

from polycache.stores.page_limit import PageLimit

PAGE = 1000


class Cursor:
    def set_range(self, key: bytes, **_: int) -> None:
        return None

    def close(self) -> None:
        pass


class Tree:
    """A B-tree of so many pages, of which `spare` can be given back by moving keys together."""

    DB_FAST_STAT = 1
    DB_FREE_SPACE = 2

    def __init__(self) -> None:
        self.pages = 0
        self.spare = 0
        self.steps = 0
        self.cuts = 0

    def stat(self, flags: int) -> dict[str, int]:
        assert flags == self.DB_FAST_STAT
        return {"pagecnt": self.pages}

    def cursor(self) -> Cursor:
        return Cursor()

    def compact(self, flags: int = 0, **_: Any) -> dict[str, int]:
        if flags:
            self.cuts += 1
            self.pages -= self.spare
            return {"pages_free": self.spare}
        self.steps += 1
        return {"pages_free": 1}


def limited(tree: Tree) -> PageLimit:
    return PageLimit(tree, tree, PAGE, 256 * PAGE)


def test_below_most_of_the_limit_nothing_is_done() -> None:
    tree = Tree()
    limit = limited(tree)
    for pages in range(223):
        tree.pages = pages
        limit.claim(2 * PAGE)
    assert (tree.steps, tree.cuts) == (0, 0)


def test_near_the_limit_keys_are_moved_together_when_the_file_grows() -> None:
    tree = Tree()
    limit = limited(tree)
    tree.pages = 230
    limit.claim(2 * PAGE)
    assert tree.steps > 0
    before = tree.steps
    limit.claim(2 * PAGE)
    assert tree.steps == before, "it did not grow"
    tree.pages = 231
    # A part of a page: it is not looked at yet.
    limit.claim(PAGE // 2)
    limit.claim(PAGE // 4)
    assert tree.steps == before
    limit.claim(PAGE)
    assert tree.steps > before
    assert tree.cuts == 0


def test_at_the_limit_the_file_is_cut() -> None:
    tree = Tree()
    limit = limited(tree)
    tree.pages, tree.spare = 256, 100
    limit.claim(2 * PAGE)
    assert tree.cuts == 1
    assert tree.pages == 156


def test_where_that_does_not_help_entries_have_to_go() -> None:
    tree = Tree()
    limit = limited(tree)
    tree.pages = 256
    with pytest.raises(OSError) as failed:
        limit.claim(2 * PAGE)
    assert failed.value.errno == errno.ENOSPC
    # What is deleted then makes pages free within the file, which stays as it is.
    limit.claim(2 * PAGE)
