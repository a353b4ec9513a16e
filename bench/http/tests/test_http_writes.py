"""A client reads its own writes while a server is under load, and a server that is too far behind
is found."""

import json
import math
import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from harness import redis_server
from harness.worker import Unavailable
from serving import stream
from serving.writes import Delays, Writes, after, percentile


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server here")
    with redis_server.running(tmp_path_factory.mktemp("writes") / "redis") as redis:
        stream.fill(redis)
        yield redis


class Behind(BaseHTTPRequestHandler):
    """Answers with what it read of the stream `missing` requests before. Tests set that."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reads.append(json.dumps(stream.current(self.redis)).encode())
        body = self.reads[max(0, len(self.reads) - 1 - self.missing)]
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.answered.set()

    def log_message(self, *_):
        pass


@pytest.fixture
def serve(redis):
    servers = []

    def serve(missing):
        handler = type("Server", (Behind,), {"redis": redis, "missing": missing})
        # What was there before the writes.
        handler.reads = [json.dumps(stream.current(redis)).encode()] if missing else []
        handler.answered = Event()
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/", handler

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def written(redis, serve, missing, bound):
    url, handler = serve(missing)
    with Writes(redis, url, bound, a_second=1000) as writes:
        assert handler.answered.wait(60)
    return writes.delays


def test_a_server_that_reads_each_time_has_every_write_at_once(redis, serve):
    before = stream.current(redis)
    delays = written(redis, serve, missing=0, bound=0.0)
    assert delays.asked == len(delays.seconds) > 0
    delays.require()
    found = stream.current(redis)
    assert len(found) == len(before)
    assert found[-1][0] > before[-1][0]


def test_the_fields_of_the_entry_that_goes_come_back(redis, serve):
    sizes = {len(json.dumps(stream.current(redis)))}
    written(redis, serve, missing=0, bound=0.0)
    sizes.add(len(json.dumps(stream.current(redis))))
    assert len(sizes) == 1


def test_answers_that_are_further_behind_than_promised_are_found(redis, serve):
    delays = written(redis, serve, missing=2, bound=0.0)
    assert delays.late > 0
    assert delays.asked == len(delays.seconds) + delays.late
    with pytest.raises(Unavailable, match="answers were more than 0 s behind"):
        delays.require()


def test_what_may_be_behind_is_only_measured(redis, serve):
    delays = written(redis, serve, missing=2, bound=math.inf)
    assert delays.asked > len(delays.seconds)
    delays.require()


def test_without_a_bound_it_only_writes(redis, serve):
    before = stream.current(redis)
    url, handler = serve(0)
    with Writes(redis, url, None, a_second=1000) as writes:
        pass
    assert (writes.delays.asked, handler.reads) == (0, [])
    assert stream.current(redis)[-1][0] > before[-1][0]


def test_a_server_that_does_not_answer_is_named(redis):
    with (
        pytest.raises(Unavailable, match="its answer to a writing client"),
        Writes(redis, "http://127.0.0.1:1/", 0.0, a_second=10),
    ):
        pass


def test_figures_are_of_the_delays():
    delays = Delays(1.0)
    delays.add(Delays(1.0, [0.001 * number for number in range(1, 101)], asked=120, late=3))
    assert [(one.operation, one.unit, round(one.value, 6)) for one in delays.figures()] == [
        ("own write 50%", "ms", 50.5),
        ("own write 99%", "ms", 99.0),
        ("own write longest", "ms", 100.0),
    ]
    assert delays.note() == (
        "100 own writes read after 50.5 ms (99 %: 99.0, 100.0 at most), "
        "3 answers more than 1 s behind"
    )


def test_percentiles_are_of_the_nearest_rank():
    assert percentile([3, 1, 2], 99) == 3
    assert percentile([3, 1, 2], 50) == 2
    assert percentile([5], 1) == 5


def test_ids_grow_and_keep_their_length():
    now = after("1700000000009-0")
    assert len(now) == len("1700000000009-0")
    assert after("9700000000009-5") == "9700000000010-0"
