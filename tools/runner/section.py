"""A section of `make test`: one test program, how it is started and how it is counted."""

from __future__ import annotations

from dataclasses import dataclass

from .counts import Counts, Parser


@dataclass(frozen=True)
class Section:
    """`command` is run by bash in `folder` (relative to the repository). `{report}` in it becomes
    the path of the file that `parser` reads.

    `needs` are names that tools/setup.sh knows: when it cannot provide one, the section is skipped
    and named. `likes` are such names, too: without one, the section runs, and skips its tests that
    need it. `prepare` are make targets that must have succeeded; each is run once for all
    sections. Sections that are not `default` run only when they are asked for by name, those of a
    `release` with `make test-release`, too.

    Sections run beside each other, but for those of one `group`, which would only wait for each
    other, and those that are `alone`, because another one's work would change what they find.
    """

    name: str
    command: str
    parser: Parser
    needs: tuple[str, ...] = ()
    likes: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    folder: str = "."
    default: bool = True
    release: bool = False
    group: str = ""
    alone: bool = False
    # Several times what any section takes on two quiet cores: a slow machine, or one with other
    # work, is not a failure, and a section that hangs still ends.
    timeout_minutes: float = 45


@dataclass(frozen=True)
class Result:
    """`counts` is None for a step that has nothing to count, such as the build. `minutes` are those
    that passed, with what ran beside it, and `cpu` the minutes of a processor that it took."""

    name: str
    minutes: float
    counts: Counts | None = None
    note: str = ""
    failures: tuple[str, ...] = ()
    cpu: float = 0
