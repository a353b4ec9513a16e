from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driver.languages import Language
from driver.worker import Worker, WorkerFailed, wait

Start = Callable[[str], Worker]

ECHO = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"said": line.strip()}), flush=True)
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Worker] = []

    def begin(program: str) -> Worker:
        language = Language("fake", "Fake", [sys.executable, "-c", program], "", "")
        started.append(Worker(language, f"fake-{len(started)}", [], tmp_path))
        return started[-1]

    yield begin
    for worker in started:
        worker.kill()


def test_a_command_has_an_answer(start: Start) -> None:
    worker = start(ECHO)
    assert worker.call("hello") == {"said": "hello"}
    worker.end()


def test_a_worker_that_ends_unasked_is_an_error_that_shows_what_it_said(start: Start) -> None:
    worker = start("raise SystemExit('no cake left')")
    with pytest.raises(WorkerFailed, match="no cake left"):
        worker.answer("start")


def test_a_worker_that_ends_badly_is_an_error(start: Start) -> None:
    with pytest.raises(WorkerFailed, match="ended with 3"):
        start("import sys; sys.stdin.read(); sys.exit(3)").end()


def test_an_answer_that_is_not_json_is_an_error(start: Start) -> None:
    worker = start("print('hello'); input()")
    with pytest.raises(WorkerFailed, match="not JSON"):
        worker.answer("start")


def test_a_stopped_worker_can_go_on_and_a_killed_one_cannot(start: Start) -> None:
    worker = start(ECHO)
    for _ in range(3):
        assert worker.stop()
        worker.go_on()
    assert worker.call("still there?") == {"said": "still there?"}
    assert worker.stop()
    assert worker.kill() == signal.SIGKILL


def test_a_dead_worker_cannot_be_stopped(start: Start) -> None:
    worker = start("")
    os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
    assert not worker.stop()


def test_nobody_waits_for_a_worker_that_left_the_list(start: Start) -> None:
    silent, speaker = start("input()"), start(ECHO)
    workers = [silent, speaker]
    speaker.send("one")
    for answers in wait(workers, time.monotonic() + 60):
        for worker, answer in answers:
            assert (worker, answer) == (speaker, {"said": "one"})
            workers.clear()
    assert not workers
