"""`polycache serve`, our own server: cached reads, the stream's entries without other fields."""

import json
import os
import sys
import time
from urllib.request import urlopen

PROGRAM = os.path.join(
    os.environ.get("CARGO_TARGET_DIR")
    or os.path.join(os.path.dirname(__file__), "..", "..", "..", "target"),
    "release",
    "polycache",
)
REDIS = f"redis://127.0.0.1:{os.environ['REDIS_PORT']}"
WORDS = ["--json", "serve", os.environ["CACHE_DIRECTORY"], "-r", REDIS, "--listen", "127.0.0.1:0"]
PATH = "/streams/OPTIONS:test:STREAM?count=10000"


def ready(url: str) -> None:
    """Says so once this host hears of changes, and the stream is kept."""
    fetched(url + PATH)
    while not json.loads(fetched(url + "/stats"))["remote"]["listens"]:
        time.sleep(0.005)
    fetched(url + PATH)
    fetched(url + PATH)
    notes = ["cached reads: encoded once for each change; at most one second behind"]
    said = {"port": int(url.rsplit(":", 1)[1]), "path": PATH, "reads": "after a change"}
    print(json.dumps({**said, "versions": {}, "notes": notes}), flush=True)


def fetched(url: str) -> bytes:
    with urlopen(url) as answer:
        return bytes(answer.read())


heard, told = os.pipe()
if os.fork() == 0:
    os.close(told)
    with open(heard) as said:
        ready(json.loads(said.readline())["url"])
    os._exit(0)
# The server is this process, so that what is measured of it is the server's alone.
os.dup2(told, sys.stdout.fileno())
os.execv(PROGRAM, [PROGRAM, *WORDS])
