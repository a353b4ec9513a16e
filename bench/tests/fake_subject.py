"""A subject that does what its arguments say:
NAME [log FILE | counts FILE | passes FILE | nanoseconds N | file | MISHAP]."""

import json
import sys
from pathlib import Path

name, what, *rest = [*sys.argv[1:], "", ""]
if what == "crash":
    raise ImportError("no such peer")
nanoseconds = float(rest[0]) if what == "nanoseconds" else 1000.0
# `counts` logs those of a read that has to be warm.
operation = "get with all in memory" if what == "counts" else "get"
runs = 0
for line in sys.stdin:
    request = json.loads(line)
    command = request["command"]
    reply: dict[str, object] = {}
    if command == "open":
        reply = {
            "subject": name,
            "bounded": what == "fresh",
            "versions": [],
            "operations": [{"name": operation, "durability": "none"}],
        }
        if what == "file":
            Path(request["directory"]).mkdir(parents=True)
            Path(request["directory"], "entries").write_bytes(b"x" * 100)
    elif command == "tail":
        reply = {"p99": 2000, "p999": 3000, "misses": 0}
    elif command == "fill":
        if what == "passes":
            with open(rest[0], "a") as log:
                print(request["passes"], file=log)
        reply = {"turns": 0.5}
    elif command == "run":
        runs += 1
        if what == "log":
            with open(rest[0], "a") as log:
                print(name, file=log)
        if what == "counts":
            with open(rest[0], "a") as log:
                print(request["count"], file=log)
        misses = request["count"] if what == "misses" else 0
        reply = {"seconds": request["count"] * nanoseconds / 1e9, "misses": misses}
        if what == "fail" and runs > 3:
            reply = {"error": "the disk is full"}
    print(json.dumps(reply), flush=True)
    if command == "close":
        break
