"""A server says where it listens, and ends with everything that it started."""

import os
import sys
import time

import pytest

from harness.worker import Unavailable
from serving.server import Ready, Server

READY = (
    """print("some greeting"); print('{"port": 7, "path": "/a", "reads": "never"}', flush=True)"""
)
WAIT = "import time; time.sleep(600)"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "{WAIT}"])
with open(sys.argv[1], "w") as file:
    file.write(str(child.pid))
"""


def program(text, *arguments):
    return (sys.executable, "-c", text, *map(str, arguments))


def runs(pid):
    """Not gone, and not a zombie that waits for its new parent."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid):
    deadline = time.monotonic() + 30
    while runs(pid) and time.monotonic() < deadline:
        os.sched_yield()
    return not runs(pid)


def test_it_is_ready_when_it_says_so():
    server = Server(program(READY + "\n" + WAIT), os.environ)
    server.close()
    assert server.ready == Ready(7, "/a", "never")
    assert server.ready.url == "http://127.0.0.1:7/a"


def test_what_it_started_ends_with_it(tmp_path):
    Server(program(PARENT + READY + "\n" + WAIT, tmp_path / "pid"), os.environ).close()
    assert gone(int((tmp_path / "pid").read_text()))


def test_what_it_started_ends_where_it_fell(tmp_path):
    with pytest.raises(Unavailable, match="ValueError: no such peer"):
        Server(program(PARENT + "raise ValueError('no such peer')", tmp_path / "pid"), os.environ)
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_program_that_is_not_there_is_said():
    with pytest.raises(Unavailable, match="No such file"):
        Server(("/nowhere/at/all",), os.environ)
