"""Lets the tests import what demo.py imports, and links what the servers import."""

import subprocess
import sys
from pathlib import Path

import pytest

HTTP = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HTTP), str(HTTP.parent / "demo")]

from driver.server import NoServer, Server  # noqa: E402
from serving import stream  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def packages():
    subprocess.run([HTTP / "setup.sh"], check=True)


@pytest.fixture(scope="session")
def redis(tmp_path_factory):
    try:
        server = Server(tmp_path_factory.mktemp("redis"))
    except NoServer as why:
        pytest.skip(str(why))
    stream.fill(server)
    yield server
    server.stop()
