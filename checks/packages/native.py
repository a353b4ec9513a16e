"""What can be read off a native library: the glibc it needs, and whether it is stripped."""

from __future__ import annotations

import re
from pathlib import Path

from command import run

# Debian 10, RHEL 8, Ubuntu 20.04.
OLDEST_GLIBC = (2, 28)


def check_library(file: Path) -> None:
    """Runs with glibc 2.28, needs nothing beside it, and carries no symbols for debuggers."""
    symbols = run(["readelf", "--wide", "--dyn-syms", "--sections", "--dynamic", file], file.parent)
    versions = re.findall(r"@GLIBC_(\d+)\.(\d+)", symbols.stdout)
    assert versions, "no version of glibc was found"
    newest = max((int(major), int(minor)) for major, minor in versions)
    assert newest <= OLDEST_GLIBC, f"{file.name} needs glibc {newest}"
    assert not re.search(r"\.(symtab|debug_\w+)\b", symbols.stdout), f"{file.name} is not stripped"
    needed = re.findall(r"\(NEEDED\).*\[(.+?)\]", symbols.stdout)
    ours = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
    others = {name for name in needed if name not in ours and not name.startswith("ld-linux")}
    assert not others, f"{file.name} needs {others}"
