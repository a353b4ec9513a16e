"""A client or a cache whose behaviour is looked at; `failures/subject.py` says what it is asked."""

from __future__ import annotations

import json
import sys
import time
from abc import ABC, abstractmethod
from typing import Any, ClassVar


class Subject(ABC):
    versions: ClassVar[dict[str, str]] = {}
    loads = True

    @abstractmethod
    def open(self, url: str, directory: str) -> None: ...

    @abstractmethod
    def get(self, key: str) -> Any: ...

    @abstractmethod
    def set(self, key: str, value: str) -> None: ...

    def load(self, key: str) -> Any:
        """Those without an operation of this kind say `loads = False`."""
        raise TypeError("this client does not load")

    def outcome(self, operation: str, key: str) -> str:
        """What an operation came to."""
        try:
            if operation == "set":
                self.set(key, "stored")
                return "stored"
            if operation == "load":
                return "loaded" if self.load(key) == "loaded" else "found"
            return "miss" if self.get(key) is None else "value"
        except Exception as error:
            return f"error: {type(error).__name__}: {str(error)[:120]}"


def serve(subject: Subject) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if request["command"] == "open":
            subject.open(request["url"], request["directory"])
            say({"versions": subject.versions, "loads": subject.loads})
            continue
        before = began = time.perf_counter()
        outcome = ""
        for _ in range(request["times"]):
            began = time.perf_counter()
            outcome = subject.outcome(request["operation"], request["key"])
        now = time.perf_counter()
        say({"ms": 1e3 * (now - began), "total_ms": 1e3 * (now - before), "outcome": outcome})


def say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)
