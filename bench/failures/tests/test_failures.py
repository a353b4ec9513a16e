"""The benchmark of failures, with a subject that is made up."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from failures import case, tables
from failures.server import Server
from failures.states import STATES, State
from failures.subject import Process, SubjectFailed
from harness.row import Row
from harness.subject import Subject

# What a client without retries does, over a socket that it opens for each call.
CLIENT = """
import json, socket, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if request["command"] == "open":
        port = int(request["url"].rpartition(":")[2])
        answer = {"versions": {"made up": "1"}, "loads": False}
    else:
        began = time.perf_counter()
        try:
            with socket.create_connection(("127.0.0.1", port)) as one:
                key = request["key"].replace(" ", "-")
                command = f"SET {key} v" if request["operation"] == "set" else f"GET {key}"
                one.sendall(f"{command}\\r\\n".encode())
                reply = one.makefile().readline()
            what = {"+": "stored", "$": "value", "-": "error: " + reply[1:8]}[reply[0]]
            outcome = "miss" if reply.startswith("$-1") else what
        except OSError as error:
            outcome = f"error: {type(error).__name__}"
        answer = {"ms": 1e3 * (time.perf_counter() - began), "total_ms": 0, "outcome": outcome}
    print(json.dumps(answer), flush=True)
"""
SUBJECT = Subject("made-up", (sys.executable, "-c", CLIENT))
needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason="no redis-server")


def begin(subject: Subject, folder: Path) -> Process:
    return Process(subject.command, {}, folder / "errors")


def outcomes(state: State, folder: Path, bound: float) -> dict[str, str]:
    rows, versions = case.run(state, [SUBJECT], begin, folder, bound)
    assert versions == {"made up": "1"}
    return {row.operation: row.failure or row.notes[0] for row in rows}


EXPECTED = {
    "never there": ("error: ConnectionRefusedError", "error: ConnectionRefusedError"),
    "killed": ("error: ConnectionRefusedError", "error: ConnectionRefusedError"),
    "hangs": ("no answer within 2 s", "no answer within 2 s"),
    "each reply is 1 s late": ("value", "stored"),
    "loading its data": ("error: LOADING", "error: LOADING"),
    "out of memory": ("value", "error: OOM com"),
    "a replica": ("value", "error: READONL"),
    "wrong password": ("error: NOAUTH ", "error: NOAUTH "),
}


@needs_redis
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_each_state_is_what_a_client_meets(state: State, tmp_path: Path) -> None:
    found = outcomes(state, tmp_path, 2.0)
    assert (found["get"], found["set"]) == EXPECTED[state.name]
    assert found["get or load"] == "it has no such operation"


@needs_redis
def test_a_server_is_ended(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.hang()
    server.kill()
    assert server.process.returncode is not None


def test_a_process_that_ends_says_why(tmp_path: Path) -> None:
    program = (sys.executable, "-c", "import sys; sys.exit('broken')")
    process = Process(program, {}, tmp_path / "errors")
    with pytest.raises(SubjectFailed, match="broken"):
        process.call(command="open", url="", directory="")
    process.end()


def test_a_cell_says_what_came_and_when() -> None:
    def row(median: float | None, notes: str) -> dict[str, object]:
        return {"median": median, "notes": notes}

    assert tables.cell(row(0.3, "miss")) == "miss, < 1 ms"
    assert tables.cell(row(250, "error: TimeoutError: late")) == "error, 250 ms"
    assert tables.cell(row(43_210, "value")) == "value, 43.2 s"
    assert tables.cell(row(100_000, "no answer within 100 s")) == "> 100 s"
    assert tables.cell(row(None, "not measured: it has no such operation")) == ""
    assert tables.cell(row(None, "not measured: the process ended")) == "failed to start"


def test_a_call_that_never_ended_is_a_row() -> None:
    asked = case.Asked(SUBJECT, case.GET)
    row = asked.row("hangs", 100.0)
    assert isinstance(row, Row) and row.measured
    assert (row.samples, row.notes) == ([100_000.0], ["no answer within 100 s"])


def test_tables_go_between_their_marks(tmp_path: Path) -> None:
    document, results = tmp_path / "page.md", tmp_path / "failures.jsonl"
    document.write_text(f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n")
    row = '"subject": "polycache-x", "operation": "get", "median": 2, "notes": "miss"'
    results.write_text('{"bench": "failures"}\n{"workload": "killed", ' + row + "}\n")
    tables.write(document, results)
    text = document.read_text()
    assert "| **polycache-x** | miss, 2 ms |" in text and "old" not in text
    assert text.startswith("before\n") and text.endswith("after\n")
    document.write_text("no marks")
    with pytest.raises(ValueError, match="no place"):
        tables.write(document, results)
