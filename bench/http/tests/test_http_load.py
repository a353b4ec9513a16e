"""What wrk reports, and that it sends as many requests as it was told to."""

import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from harness.worker import Unavailable
from serving import load
from serving.load import Load

PRINTED = """Running 2m test @ http://127.0.0.1:1/
  1 threads and 50 connections
Requests/sec:    200.00
{"requests":400,"microseconds":2000000,"bytes":4000,"failed":0,"latency":{"50":1500,"99":9000}}
"""


def test_the_last_line_is_ours():
    found = load.parse(PRINTED)
    assert found == Load(400, 2_000_000, 4000, 0, {"50": 1500, "99": 9000})
    assert [(one.operation, one.unit, one.value) for one in found.figures(10)] == [
        ("requests", "requests per second", 200.0),
        ("latency 50%", "ms", 1.5),
        ("latency 99%", "ms", 9.0),
    ]


def test_what_wrk_says_instead_is_the_reason():
    with pytest.raises(Unavailable, match="unable to connect"):
        load.parse("unable to connect to 127.0.0.1:1 Connection refused\n")


def test_a_round_with_errors_does_not_count():
    with pytest.raises(Unavailable, match="2 of 10 requests failed"):
        Load(10, 1000, 1000, 2, {}).figures(10)


def test_a_round_with_short_answers_does_not_count():
    with pytest.raises(Unavailable, match="had only 90 bytes"):
        Load(10, 1000, 90, 0, {}).figures(10)


def test_the_version_is_the_second_word():
    assert load.read_version("wrk debian/4.1.0-3 [epoll] Copyright (C) 2012\n") == "4.1.0-3"
    assert load.read_version("") == "unknown"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    status = 200
    answered = 0

    def do_GET(self):
        type(self).answered += 1
        self.send_response(self.status)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        pass


class Failing(Handler):
    status = 500


class Listener(ThreadingHTTPServer):
    # All of wrk's connections at once.
    request_queue_size = 2 * load.CONNECTIONS


@pytest.fixture
def serve():
    if shutil.which("wrk") is None:
        pytest.skip("no wrk here")
    servers = []

    def serve(handler):
        handler.answered = 0
        servers.append(Listener(("127.0.0.1", 0), handler))
        Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_exactly_so_many_requests_are_sent(serve):
    url = serve(Handler)
    found = load.of_requests(url, 200)
    assert found.requests == Handler.answered == 200
    assert len(found.figures(5)) == 8


def test_load_ends_when_it_is_told_to(serve):
    found = load.for_seconds(serve(Handler), 0.2)
    assert found.requests > 0
    assert found.failed == 0


def test_errors_under_load_are_seen(serve):
    with pytest.raises(Unavailable, match="failed under load"):
        load.of_requests(serve(Failing), 200).figures(5)
