"""The Python worker of the demo: see README.md in the folder above for what it is asked.

worker.py CACHE_DIRECTORY LIMIT NAME [SERVER], in the folder that holds the records
"""

import hashlib
import json
import os
import sys
import time
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import polycache

# A value of each type, in this language's own types. Each worker has the same list.
SAMPLES: dict[str, Any] = {
    "null": None,
    "bool": True,
    "integer": -42,
    "64 bits": 18446744073709551615,
    "big integer": 2**100,
    "float": 0.1,
    "text": "Zoë 🦊",
    "bytes": b"\x00\xff\xc1",
    "list": [1, "two", [None, False]],
    "map": {"constructor": 1, "nested": {"": "empty key"}},
    "set": {1, 2, 3},
    "timestamp": datetime(2026, 2, 3, 4, 5, 6, 789000, tzinfo=UTC),
    "decimal": Decimal("-1234.5678"),
    "uuid": uuid.UUID("018bcfe5-6800-7abc-8def-0123456789ab"),
}


def load(name: str) -> dict[str, Any]:
    """What a package is and all that it needs, directly or not: there is no index of it."""
    database = Path("records.txt").read_bytes()
    found: dict[str, bytes | None] = {}

    def find(package: str) -> bytes | None:
        if package not in found:
            start = database.find(f"\nPackage: {package}\n".encode()) + 1
            found[package] = database[start : database.find(b"\n\n", start)] if start else None
        return found[package]

    needs = [name]
    size = 0
    digest = hashlib.sha256()
    for package in needs:  # grows while it is walked
        record = find(package) or b""
        digest.update(record)
        fields = parse(record.decode())
        size += 1024 * int(fields.get("Installed-Size", "0"))
        for choices in dependencies(fields):
            first = next((choice for choice in choices if find(choice)), None)
            if first and first not in needs:
                needs.append(first)
    fields = parse((find(name) or b"").decode())
    summary, _, description = fields.pop("Description", "").partition("\n")
    return {
        "name": name,
        "summary": summary,
        "description": description,
        "needs": needs,
        "size": size,
        "sha256": digest.hexdigest(),
        "fields": fields,
    }


def parse(record: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in record.split("\n"):
        if line.startswith(" "):
            fields[name] += "\n" + line[1:]
        elif line:
            name, _, value = line.partition(":")
            fields[name] = value.strip(" ")
    return fields


def dependencies(fields: dict[str, str]) -> list[list[str]]:
    """`a (>= 1), b:any | c` is a, and b or c."""
    wanted = fields.get("Pre-Depends", "") + "," + fields.get("Depends", "")
    return [
        [choice.strip(" ").split(" ")[0].split(":")[0] for choice in part.split("|")]
        for part in wanted.split(",")
    ]


def spread(keys: list[str], most: int) -> list[str]:
    return keys[:: max(1, len(keys) // most)][:most]


class Worker:
    def __init__(self, directory: str, limit: str, name: str, server: str | None = None) -> None:
        self.name = name
        self.keys: list[str] = json.loads(Path(f"{name}.keys.json").read_text())
        self.log = os.open("loads.log", os.O_WRONLY | os.O_APPEND)
        options: dict[str, Any] = {"namespace": "demo", "limit": int(limit)}
        if server:
            # The same code on several hosts. A machine that is busy with the demo is no fault.
            options |= {"remote": server, "timeout": 5.0}
        cache = polycache.Cache(directory, **options)
        self.cache = cache
        self.packages = cache.namespace("packages")
        self.matrix = cache.namespace("matrix")
        self.changes = cache.namespace("changes")

    def note(self, event: str, key: str) -> None:
        os.write(self.log, f"{event} python {os.getpid()} {key}\n".encode())

    def ask(self) -> dict[str, Any]:
        """Asks for every record, and loads those that are not loaded yet."""
        loaded = 0
        waits = [0.0]

        def noted_load(key: str) -> dict[str, Any]:
            nonlocal loaded
            loaded += 1
            self.note("begin", key)
            package = load(key)
            self.note("end", key)
            return package

        for asked, key in enumerate(self.keys):
            if asked % 8 == 0:
                say({"asked": asked})
            before, started = loaded, time.monotonic()
            package = self.packages.get_or_set(key, partial(noted_load, key))
            if package["name"] != key:
                raise ValueError(f"asked for {key}, got {package['name']}")
            milliseconds = 1000 * (time.monotonic() - started)
            # A hit takes microseconds; the shortest sleep of a waiting caller is 0.1 ms.
            if loaded == before and milliseconds >= 0.1:
                waits.append(milliseconds)
        return {"loaded": loaded, "waited": len(waits) - 1, "longest_wait_ms": max(waits)}

    def write(self) -> dict[str, Any]:
        for name, value in SAMPLES.items():
            self.matrix.set(f"{self.name}:{name}", value)
        return {"written": list(SAMPLES)}

    def read(self, writer: str) -> dict[str, Any]:
        """repr tells 1, 1.0 and True apart, text and bytes too."""
        read = {name: self.matrix.get(f"{writer}:{name}", "missing") for name in SAMPLES}
        return {
            "equal": [name for name in SAMPLES if repr(read[name]) == repr(SAMPLES[name])],
            "different": [
                f"{name}: {read[name]!r}"
                for name in SAMPLES
                if repr(read[name]) != repr(SAMPLES[name])
            ],
        }

    def set(self, value: str) -> dict[str, Any]:
        self.changes.set("last writer", value)
        return {}

    def get(self) -> dict[str, Any]:
        return {"value": self.changes.get("last writer")}

    def tiers(self) -> dict[str, Any]:
        stats = self.cache.remote_stats()
        assert stats
        return {
            "hits_here": self.cache.stats().memory_hits + stats.near_hits,
            "remote_hits": stats.remote_hits,
            "listens": stats.listens,
        }

    def measure(self) -> dict[str, Any]:
        """Nanoseconds per hit over all records and per load over some; do both agree?"""
        get = self.packages.get
        passes = []
        for _ in range(21):
            started = time.perf_counter_ns()
            for key in self.keys:
                get(key)
            passes.append((time.perf_counter_ns() - started) / len(self.keys))
        some = spread(self.keys, 100)
        started = time.perf_counter_ns()
        loaded = [load(key) for key in some]
        load_ns = (time.perf_counter_ns() - started) / len(some)
        different = [package["name"] for package in loaded if get(package["name"]) != package]
        return {
            "hit_ns": median(passes),
            "load_ns": load_ns,
            "same": len(some) - len(different),
            "different": different,
        }


def say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


worker = Worker(*sys.argv[1:])
say({"ready": True})
for line in sys.stdin:
    command, *arguments = line.split()
    say(getattr(worker, command)(*arguments))
