"""What a small program loads: many live for a moment, and pay for each module."""

import inspect
import json
import os
import subprocess
import sys
import typing
from pathlib import Path

import polycache
import polycache.files

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
HEAVY = {"asyncio", "platform", "socket", "ssl", "subprocess"}


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
    asks = PROGRAM.replace("print(", "polycache.AsyncCache\nprint(")
    assert "asyncio" in loaded(asks, str(ROOT / "python/src"), str(tmp_path))


def test_what_is_loaded_later_is_in_the_lists_and_has_its_types() -> None:
    assert {*polycache.__all__} <= {*dir(polycache)}
    assert {*polycache.files.__all__} <= {*dir(polycache.files)}
    for of in (polycache.Cache, polycache.AsyncCache, polycache.Lease, polycache.AsyncLease):
        for name, member in vars(of).items():
            if inspect.isfunction(member) and not name.startswith("_"):
                assert typing.get_type_hints(member), name
