"""`make demo-http`, from its first line to its last."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

HTTP = Path(__file__).resolve().parent.parent
PROGRAMS = ("redis-server", "valkey-server")


def run(**settings):
    done = subprocess.run(
        [HTTP / "run.sh"],
        env=os.environ | {"SECONDS_EACH": "0.2"} | settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.skipif(not any(map(shutil.which, PROGRAMS)), reason="no Redis here")
def test_it_shows_everything_and_leaves_nothing_running():
    code, said = run()
    assert code == 0, said
    runtimes = 2 if shutil.which("bun") else 1
    assert f"{3 + 5 * runtimes} passed, 0 failed, {2 - runtimes} skipped" in said
    assert len(re.findall("the same 41,803 bytes", said)) == runtimes
    assert said.count("status 304, 0 bytes") == runtimes
    assert re.search(r"node-http\.ts +[\d,]+ +[\d.]+ x", said), said
    ports = [int(port) for port in re.findall(r"(?:127\.0\.0\.1:|at port )(\d+)", said)]
    assert len(set(ports)) == 2 + runtimes
    assert not any(map(listens, ports))


def test_it_says_what_is_missing_where_there_is_no_redis(tmp_path):
    for name, place in {"node": shutil.which("node"), "python3": sys.executable}.items():
        (tmp_path / name).symlink_to(place)
    for name in ("bash", "dirname", "ln", "mkdir", "env"):
        (tmp_path / name).symlink_to(shutil.which(name))
    code, said = run(PATH=str(tmp_path))
    assert code == 0, said
    assert "no redis-server or valkey-server here" in said
    assert "0 passed, 0 failed, 1 skipped" in said


def test_a_length_that_is_none_is_refused():
    code, said = run(SECONDS_EACH="long")
    assert code == 1
    assert "SECONDS_EACH=0.5" in said
