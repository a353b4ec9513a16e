"""What a process group used is counted, with all that it started."""

import os
import subprocess
import sys

import pytest

from serving import usage
from serving.usage import Usage

# Burns a thread and a child's time, and says when it has.
BUSY = """
import subprocess, sys, threading, time
def burn():
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
thread = threading.Thread(target=burn)
thread.start()
thread.join()
held = bytearray(32 << 20)
print("ready", flush=True)
sys.stdin.read()
"""


class NoRedis:
    def command(self, *_):
        return ":7000000"


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="no schedstat here")
def test_it_counts_what_a_group_used():
    with subprocess.Popen(
        [sys.executable, "-c", BUSY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        used = usage.now(process.pid, NoRedis())
        memory = usage.memory(process.pid)
        process.stdin.close()
    assert used.redis == 7.0
    assert used.server > 0
    assert memory.value > 32 << 20
    assert usage.now(process.pid, NoRedis()).server == 0


def test_figures_are_a_request():
    before, later = Usage(1.0, 5.0), Usage(1.5, 5.01)
    assert [(one.operation, round(one.value, 6)) for one in later.figures(before, 1000)] == [
        ("CPU", 500.0),
        ("CPU of Redis", 10.0),
    ]
