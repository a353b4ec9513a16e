"""What the figures were measured on and with."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any


def describe(directory: Path, versions: dict[str, str]) -> dict[str, Any]:
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "file_system": _file_system(directory),
        "commit": _line("git", "rev-parse", "--short", "HEAD"),
        "versions": {
            "python": platform.python_version(),
            "node": _line("node", "--version"),
            "ruby": _line("ruby", "-e", "print RUBY_VERSION"),
            "rustc": _line("rustc", "--version"),
            "redis-server": _line("redis-server", "--version"),
            **versions,
        },
    }


def load() -> str:
    """Work of others on this machine shows here."""
    return ", ".join(f"{one:.1f}" for one in os.getloadavg())


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _file_system(directory: Path) -> str:
    mounts = [line.split()[1:3] for line in Path("/proc/self/mounts").read_text().splitlines()]
    path = directory.resolve()
    around = [(mount, kind) for mount, kind in mounts if path.is_relative_to(mount)]
    return max(around, key=lambda one: len(one[0]))[1] if around else "unknown"


def _line(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return "not here"
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent)
    return done.stdout.strip()
