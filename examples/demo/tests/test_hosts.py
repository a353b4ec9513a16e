from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from driver import hosts, server
from driver.hosts import Heard
from driver.server import NoServer, Server

INSTALLED = any(map(shutil.which, server.PROGRAMS))


@pytest.mark.skipif(not INSTALLED, reason="no server is installed")
def test_a_server_answers_a_plain_client_until_it_is_stopped(tmp_path: Path) -> None:
    running = Server(tmp_path)
    try:
        assert running.command("SET", "ä key", "v") == "+OK"
        assert running.command("DEL", "ä key") == ":1"
    finally:
        running.stop()
    with pytest.raises(OSError):
        running.command("PING")


def test_a_machine_without_a_server_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PROGRAMS", ("no-such-server",))
    with pytest.raises(NoServer, match="no no-such-server here"):
        Server(tmp_path)


def test_a_server_that_does_not_start_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PROGRAMS", ("false",))
    with pytest.raises(NoServer, match="does not start"):
        Server(tmp_path)


def test_what_is_late_or_stale_or_never_copied_is_no_good() -> None:
    assert Heard("a", "b", 5.0, "v", "v").good
    assert not Heard("a", "b", 5.0, "old", "v").good
    assert not Heard("a", "b", 1001.0, "v", "v").good
    assert not Heard("a", "b", 5.0, "v", "v", is_copy=False).good
    assert Heard("redis-cli", "b", 5.0, None, None).good


def test_the_key_is_that_of_the_workers() -> None:
    workers = Path(hosts.__file__).parent.parent / "workers"
    for worker in workers.iterdir():
        text = worker.read_text()
        assert "demo" in text and "changes" in text and "last writer" in text, worker
