"""One interpreter of a process only."""

import subprocess
import sys

PROGRAM = """
from polycache import Cache
try:
    import _interpreters as interpreters
    run = lambda: interpreters.exec(interpreters.create(), "from polycache import Cache")
except ImportError:
    import _xxsubinterpreters as interpreters
    run = lambda: interpreters.run_string(interpreters.create(), "from polycache import Cache")
try:
    failure = run()
except Exception as error:
    failure = error
assert failure is not None
print(failure)
"""


def test_a_subinterpreter_is_refused() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "subinterpreter" in run.stdout
