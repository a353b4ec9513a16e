"""The main function of a subject's file."""

from __future__ import annotations

from typing import Any

from subject import Subject, serve

from .rounds import Rounds
from .sharing import Sharing
from .store import Store


def measure(kind: type[Store]) -> None:
    """`processes` of the group's options chooses one of the two."""

    def open(processes: int = 0, **options: Any) -> Subject:
        if processes:
            return Sharing(kind, processes=processes, **options)
        return Rounds(kind, **options)

    serve(open)
