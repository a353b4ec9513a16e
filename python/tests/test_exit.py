"""The interpreter ends while threads, or finalizers, are in a cache."""

import subprocess
import sys
from pathlib import Path

import pytest
from helpers import LIMIT

BEGIN = """
import dataclasses, os, sys, threading
import polycache

inside = threading.Event()

def stay(*_):
    # Code of users that the interpreter's end finds running.
    inside.set()
    while True:
        pass

def beside(call):
    threading.Thread(target=call, daemon=True).start()

class Key:
    def __init__(self, hash=hash): self.hash = hash
    def __hash__(self): return self.hash(())
    def __eq__(self, other): stay()

class Stays:
    def __del__(self): stay()
    def __deepcopy__(self, memo): stay()
    def __sizeof__(self): stay()

class Walked:
    def keys(self): return iter(stay, None)
    def __iter__(self): stay()
"""
END = """
if not inside.wait(%r):
    os._exit(3)
""" % (LIMIT / 2)

CALLBACKS = {
    "listener": """
cache = polycache.MemoryCache(1, removal_listener=stay)
beside(lambda: cache.update(a=1, b=2))
""",
    "listener of a plain write": """
cache = polycache.MemoryCache(1, removal_listener=stay)
cache["a"] = 1
def write():
    cache["b"] = 2
beside(write)
""",
    "__eq__": """
cache = polycache.MemoryCache(5)
cache[Key()] = 1
beside(lambda: cache.get(Key()))
""",
    "__eq__ in a write": """
cache = polycache.MemoryCache(5)
cache[Key()] = 1
beside(lambda: cache.set(Key(), 2))
""",
    "__hash__": """
cache = polycache.MemoryCache(5)
beside(lambda: cache.get(Key(stay)))
""",
    "__hash__ of a subscript": """
cache = polycache.MemoryCache(5)
beside(lambda: cache[Key(stay)])
""",
    "__del__ of a replaced value": """
cache = polycache.MemoryCache(5, isolation="none")
cache["a"] = Stays()
beside(lambda: cache.set("a", 1))
""",
    "weigher": """
cache = polycache.MemoryCache(5, max_bytes=1000, weigher=stay)
beside(lambda: cache.set("a", 1))
""",
    "__sizeof__": """
cache = polycache.MemoryCache(5, max_bytes=1000, isolation="none")
beside(lambda: cache.set("a", Stays()))
""",
    "isolation": """
cache = polycache.MemoryCache(5)
beside(lambda: cache.set("a", Stays()))
""",
    "clock of a memory cache": """
cache = polycache.MemoryCache(5, clock=stay)
beside(lambda: cache.get("a"))
""",
    "clock": """
cache = polycache.Cache(sys.argv[1], clock=stay)
beside(lambda: cache.get("a"))
""",
    "clock without a path": """
cache = polycache.Cache(clock=stay)
beside(lambda: cache.get("a"))
""",
    "iterable": """
cache = polycache.Cache(sys.argv[1])
beside(lambda: cache.get_many(Walked()))
""",
    "__missing__": """
class Missing(polycache.MemoryCache):
    __missing__ = stay
cache = Missing(5)
beside(lambda: cache["a"])
""",
    "arguments of a memoized function": """
@polycache.cached(5)
def function(key):
    return 1
function(Key())
beside(lambda: function(Key()))
""",
    "memoized function": """
function = polycache.cached(5)(lambda: stay())
beside(function)
""",
    "loader": """
cache = polycache.Cache(sys.argv[1])
beside(lambda: cache.get_or_set("a", stay))
""",
    "loader of a memory cache": """
cache = polycache.MemoryCache(5)
beside(lambda: cache.get_or_set("a", stay))
""",
}


def run(program: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, str(directory)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


@pytest.mark.parametrize("callback", CALLBACKS.values(), ids=CALLBACKS)
def test_a_thread_in_a_callback_does_not_abort_the_end(callback: str, directory: Path) -> None:
    # Several times: where the thread is when the end comes is chance.
    for _ in range(3):
        ended = run(BEGIN + callback + END, directory)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_threads_that_compare_keys_do_not_abort_the_end(directory: Path) -> None:
    program = """
@dataclasses.dataclass(frozen=True)
class Number:
    number: int

@polycache.cached(100)
def function(number):
    return number

def call():
    while True:
        for number in range(200):
            function(Number(number))
        inside.set()
for _ in range(8):
    beside(call)
"""
    for _ in range(5):
        ended = run(BEGIN + program + END, directory)
        assert (ended.returncode, ended.stderr) == (0, "")


FINALIZED = {
    "get": ("polycache.Cache(sys.argv[1])", "cache.get('a')", "1"),
    "get without a path": ("polycache.Cache()", "cache.get('a')", "1"),
    "get of a miss": ("polycache.Cache(sys.argv[1])", "cache.get('none', 'default')", "default"),
    "set": ("polycache.Cache(sys.argv[1])", "cache.set('b', [1])", "None"),
    "subscript": ("polycache.MemoryCache(5)", "cache['a']", "1"),
    "subscript of a miss": ("polycache.MemoryCache(5)", "'b' in cache or cache.get('b')", "None"),
    "write": ("polycache.MemoryCache(5)", "cache.set('b', 2)", "None"),
    "long write": ("polycache.MemoryCache(5)", "cache.set('b', 2, ttl=5)", "None"),
    "clock": ("polycache.MemoryCache(5, clock=lambda: 5)", "cache.get('a')", "1"),
}


@pytest.mark.parametrize(("cache", "call", "printed"), FINALIZED.values(), ids=FINALIZED)
def test_finalizers_use_a_cache_at_the_end(
    cache: str, call: str, printed: str, directory: Path
) -> None:
    program = f"""
import builtins, os, sys
import polycache

cache = {cache}
cache.set("a", 1)

class Last:
    def __init__(self, cache, write=os.write):
        self.cache = cache
        self.write = write

    def __del__(self):
        cache = self.cache
        self.write(1, f"{{{call}}}\\n".encode())

# Module dictionaries go before it, and the interpreter calls itself no longer initialized.
builtins.last = Last(cache)
sys.last_of_all = Last(cache)
"""
    ended = run(program, directory)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.split() == [printed, printed]
