"""A store whose work is wrong is found out."""

import pytest

from diskbench.check import Wrong, check
from diskbench.store import NONE


def test_one_that_works_passes_and_leaves_nothing(files, place):
    check(files, place)
    assert not list(place.directory.iterdir())


def test_one_that_gives_back_something_else(files, place):
    class Upper(files):
        def get(self, key):
            value = super().get(key)
            return value and value.upper()

    with pytest.raises(Wrong, match="000000: it read"):
        check(Upper, place)


def test_one_that_keeps_what_was_deleted(files, place):
    class Keeps(files):
        def delete(self, key):
            pass

    with pytest.raises(Wrong, match="000001: it read"):
        check(Keeps, place)


def test_one_that_does_not_count_its_misses(files, place):
    class Blind(files):
        def get_all(self, keys):
            return 0

    with pytest.raises(Wrong, match="it misses 0 keys, and 10 were deleted"):
        check(Blind, place)


def in_memory(files, of_durability):
    class Memory(files):
        """Writes when it is closed."""

        durability = of_durability

        def __init__(self, place):
            super().__init__(place)
            self.written = {}

        def set(self, key, value):
            self.written[key] = value

        def get(self, key):
            return self.written.get(key) or super().get(key)

        def delete(self, key):
            del self.written[key]

        def close(self):
            for key, value in self.written.items():
                super().set(key, value)

    return Memory


def test_one_that_loses_what_a_killed_process_wrote(files, place):
    check(in_memory(files, NONE), place)
    with pytest.raises(Wrong, match="000000: it read None"):
        check(in_memory(files, files.durability), place)
