"""What a small program loads: many live for a moment, and pay for each module."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import polycache
with polycache.Cache(sys.argv[2]) as cache:
    cache.set("key", "value")
    assert cache.get_or_set("other", lambda: 1, ttl="5m") == 1
    with cache.open("file", "w") as file:
        file.write("text")
    with cache.lease("lock"):
        assert cache.memoize()(abs)(-1) == 1
print(json.dumps(sorted(sys.modules)))
"""
HEAVY = {"asyncio", "pathlib", "platform", "socket", "ssl", "subprocess", "polycache.statistics"}


def loaded(program: str, *arguments: str) -> set[str]:
    # Without the modules of site-packages, whose .pth files may load anything.
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_a_synchronous_program_loads_no_event_loop(tmp_path: Path) -> None:
    modules = loaded(PROGRAM, str(ROOT / "python/src"), str(tmp_path))
    assert "polycache._native" in modules
    assert modules & HEAVY == set()


def test_what_is_asked_for_is_loaded(tmp_path: Path) -> None:
    asks = PROGRAM.replace("print(", "polycache.AsyncCache, cache.stats\nprint(").replace(
        "    with cache.lease", "    assert cache.stats().writes > 0\n    with cache.lease"
    )
    modules = loaded(asks, str(ROOT / "python/src"), str(tmp_path))
    assert {"asyncio", "polycache.statistics"} <= modules
