"""Instructions between a subject's marks, out of valgrind's dumps."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import callgrind
from harness.worker import Unavailable

# Marks nothing, a thousand additions, and twice as many.
PROGRAM = """
import time

def mark():
    time.clock_getres(time.CLOCK_MONOTONIC)

def add(times):
    total = 0
    for number in range(times):
        total += number

mark()
add(1000)
mark()
add(2000)
mark()
"""


def dump(folder: Path, number: int, total: int) -> None:
    (folder / f"dump.{number}").write_text(f"events: Ir\nsummary: {total}\ntotals: {total}\n")


def test_the_last_two_of_all_dumps_count(tmp_path: Path) -> None:
    for number in range(1, 13):
        dump(tmp_path, number, 10 * number)
    assert callgrind.counted(tmp_path) == (110, 120)


def test_marks_that_are_missing_are_said(tmp_path: Path) -> None:
    dump(tmp_path, 1, 10)
    dump(tmp_path, 2, 10)
    with pytest.raises(Unavailable, match="2 marks"):
        callgrind.counted(tmp_path)


def test_a_dump_without_a_total_is_said() -> None:
    with pytest.raises(Unavailable, match="no total"):
        callgrind.total("events: Ir\n")


@pytest.mark.skipif(not shutil.which("valgrind"), reason="there is no valgrind here")
def test_valgrind_sees_the_marks(tmp_path: Path) -> None:
    command = [*callgrind.valgrind(tmp_path), sys.executable, "-I", "-S", "-c", PROGRAM]
    subprocess.run(command, check=True, capture_output=True)
    once, twice = callgrind.counted(tmp_path)
    # One addition in Python takes some dozens of instructions.
    assert 10_000 < twice - once < 1_000_000
