"""Who holds a lock, so that others notice when its process has died."""

import os
from functools import cache
from pathlib import Path
from typing import Any

MARK = "polycache process"


def me() -> list[Any]:
    """This process, as a value that others can look up."""
    return _of(os.getpid())


@cache
def _of(pid: int) -> list[Any]:
    return [MARK, pid, _started(pid), _machine()]


def has_died(holder: Any) -> bool:
    """Whether the process of `me` has ended. False where that cannot be known: for what is no such
    value, and for a process of another container."""
    if not isinstance(holder, list) or len(holder) != 4 or holder[0] != MARK:
        return False
    _, pid, started, machine = holder
    if not isinstance(pid, int) or not isinstance(machine, str) or not started:
        return False
    mine = _machine()
    if machine.split()[0] != mine.split()[0]:
        return True  # The machine was started again since.
    return machine == mine and _started(pid) != started


def _started(pid: int) -> int:
    """When it began, in the system's ticks; 0 for none that runs. Numbers of processes are used
    again, so the number alone does not say which it is."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0
    # The name, in parentheses, may hold anything.
    fields = stat[stat.rfind(b")") + 2 :].split()
    return 0 if fields[0] in b"ZX" else int(fields[19])


@cache
def _machine() -> str:
    """This boot of the machine, and the container whose process numbers these are."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return "unknown unknown"
