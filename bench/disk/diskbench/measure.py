"""The main function of a subject's file."""

from __future__ import annotations

from typing import Any

from subject import Subject, serve

from .growing import Growing
from .rounds import Rounds
from .sharing import Sharing
from .store import Store


def measure(kind: type[Store]) -> None:
    """`processes` and `growing` of the group's options choose one of the three."""

    def open(processes: int = 0, growing: bool = False, **options: Any) -> Subject:
        if growing:
            return Growing(kind, **options)
        if processes:
            return Sharing(kind, processes=processes, **options)
        return Rounds(kind, **options)

    serve(open)
