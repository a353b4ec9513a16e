"""A subject of the shared kind, as its arguments say: NAME [log FILE | value N | MISHAP]."""

import json
import sys

name, what, *rest = [*sys.argv[1:], "", ""]
if what == "crash":
    raise ImportError("no such peer")
runs = 0
for line in sys.stdin:
    request = json.loads(line)
    command = request["command"]
    reply: dict[str, object] = {}
    if command == "open":
        reply = {
            "subject": name,
            "versions": {name: "1.0"},
            "notes": ["no isolation"],
            "operations": {"GET": "", "KEYS": "µs per operation"},
        }
    elif command == "check" and what == "wrong":
        reply = {"error": "it read 2 where it wrote 1"}
    elif command == "run":
        runs += 1
        reply = {"value": float(rest[0]) if what == "value" else 100.0}
        if what == "log":
            with open(rest[0], "a") as log:
                print(request["operation"], name, file=log)
        if what == "fail" and runs > 3:
            reply = {"error": "the disk is full"}
        if what == "figures":
            reply = {"figures": [{"operation": "p50", "unit": "ms", "value": runs}]}
    print(json.dumps(reply), flush=True)
    if command == "close":
        break
