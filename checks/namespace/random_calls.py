"""Random commands over all data types, from the servers' own descriptions of their arguments."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from command_table.cases import Maker
from command_table.connection import Connection

# Few keys of each kind, so that commands contend.
KEYS = 6
KINDS = ("string", "list", "set", "sorted-set", "hash", "stream", "hyperloglog", "geo", "bitmap")
# A geo set is a sorted set, a bitmap and a hyperloglog are strings.
HOMES = {"geo": "sorted-set", "bitmap": "string"}
# How often a command goes to a key of another kind, and the server rejects it.
ASTRAY = 0.03

# Their replies or effects differ from call to call, by chance, time, or the length of a key's name.
UNEQUAL = frozenset(
    """
    SPOP SRANDMEMBER HRANDFIELD ZRANDMEMBER RANDOMKEY DUMP RESTORE RESTORE-ASKING MIGRATE
    TTL PTTL EXPIRETIME PEXPIRETIME EXPIRE PEXPIRE GETEX SETEX PSETEX HTTL HPTTL HEXPIRE HPEXPIRE
    HEXPIRETIME HPEXPIRETIME HGETEX HSETEX XPENDING XCLAIM XAUTOCLAIM XINFO SSCAN HSCAN ZSCAN
    PFDEBUG OBJECT MEMORY WAIT WAITAOF MOVE CLUSTER
    """.split()  # noqa: SIM905
)
# A connection that subscribes can do nothing else.
UNEQUAL_GROUPS = {"pubsub"}
# A call may contain none of these: another database, a time to live from now on, an expiry in the
# past (DBSIZE counts the key until it is accessed), an id made of the current time.
UNEQUAL_WORDS = {"DB", "EX", "PX", "EXAT", "PXAT", "*", "IDLETIME", "FREQ"}
# Their replies name keys, so they come more often.
READING = {"XREAD", "XREADGROUP"}
TELLING = {"LMPOP", "ZMPOP", "BLPOP", "BRPOP", "BLMPOP", "BZMPOP", "BZPOPMIN", "BZPOPMAX"} | READING
OFTEN = 5
# How often a transaction ends in another way, per batch.
PLANTS = 0.15
# Equal weights come in any order.
UNEQUAL_SORTS = {"LIMIT", "STORE"}
SCRIPTS = (
    "return redis.call('GET', KEYS[1])",
    "return redis.call('SET', KEYS[1], ARGV[1])",
    "return #KEYS",
)
# These look at the whole keyspace.
WHOLE = (
    (["KEYS", "*"], 4),
    (["KEYS", "s*"], 2),
    (["DBSIZE"], 4),
    (["SCAN", "0", "COUNT", "100000"], 4),
    (["SCAN", "0", "MATCH", "h?", "COUNT", "100000"], 2),
    (["FLUSHDB"], 1),
)


class Commands:
    """Makes calls whose answer does not depend on what else a server holds. `before` is the prefix
    of each key."""

    def __init__(
        self, port: int, names: Sequence[str], chance: random.Random, before: str = ""
    ) -> None:
        self.chance = chance
        with Connection(port) as connection:
            docs = connection.call("COMMAND", "DOCS")
        self.makers = [
            KeyedMaker(name.upper(), said, chance, before)
            for name, said in docs.items()
            if name.upper() in names
            and name.upper() not in UNEQUAL
            and said["group"] not in UNEQUAL_GROUPS
        ]

        self.weights = [OFTEN if maker.name in TELLING else 1 for maker in self.makers]

    def call(self) -> list[str]:
        while True:
            words = self.chance.choices(self.makers, self.weights)[0].make().words
            options = {word.upper() for word in words[2:]}
            unequal = (
                UNEQUAL_WORDS | UNEQUAL_SORTS if words[0].startswith("SORT") else UNEQUAL_WORDS
            )
            if not unequal & options:
                return words

    def batch(self) -> list[list[str]]:
        """Commands for one pipeline; a blocking one only where it does not block."""
        calls = [self.call() for _ in range(self.chance.randint(5, 30))]
        if self.chance.random() < 0.3:
            return [["MULTI"], *(call for call in calls if call[0] != "WATCH"), ["EXEC"]]
        return [call for call in calls if not _blocks(call)]

    def few(self) -> list[list[str]]:
        """Commands for a transaction that is sent one by one; some read the whole keyspace."""
        calls = [self.call() for _ in range(self.chance.randint(0, 4))]
        return [["KEYS", "*"], *(call for call in calls if call[0] != "WATCH")]

    def planted(self) -> list[dict[str, Any]]:
        """Steps in which a transaction ends in another way than a successful EXEC, or a pipeline
        fails; and then one example of every kind of reply with names."""
        return [*self.chance.choice(PLANTED)(self), {"lines": AFTER}]

    def whole(self) -> list[str]:
        commands, weights = zip(*WHOLE, strict=True)
        return list(self.chance.choices(commands, weights)[0])


# The first is rejected when queued, because it lacks a value; the second fails when executed.
REFUSED = ["SET", "string0"]
FAILING = ["LPUSH", "hash0", "v"]
MULTI, EXEC, DISCARD, RESET = ["MULTI"], ["EXEC"], ["DISCARD"], ["RESET"]
AFTER = [
    ["KEYS", "*"],
    ["DBSIZE"],
    ["SCAN", "0", "COUNT", "100000"],
    ["LMPOP", "1", "list0", "LEFT"],
]


def _aborted(commands: Commands) -> list[dict[str, Any]]:
    return [{"lines": [MULTI, *commands.few(), REFUSED, *commands.few(), EXEC]}]


def _failing(commands: Commands) -> list[dict[str, Any]]:
    return [{"lines": [MULTI, FAILING, *commands.few(), EXEC]}]


def _discarded(commands: Commands) -> list[dict[str, Any]]:
    return [{"lines": [MULTI, *commands.few(), DISCARD]}]


def _nested(commands: Commands) -> list[dict[str, Any]]:
    return [{"lines": [MULTI, *commands.few(), MULTI, ["WATCH", "string0"], EXEC]}]


def _without_multi(_: Commands) -> list[dict[str, Any]]:
    return [{"lines": [EXEC, DISCARD]}]


def _conflict(commands: Commands) -> list[dict[str, Any]]:
    change = ["SET", "string0", "v"]
    return [{"lines": [["WATCH", "string0"], change, MULTI, *commands.few(), EXEC]}]


def _reset(commands: Commands) -> list[dict[str, Any]]:
    # A client that uses its own database has to select it again.
    return [{"lines": [MULTI, *commands.few(), RESET], "reset": True}]


def _lost(commands: Commands) -> list[dict[str, Any]]:
    return [{"lines": [MULTI, *commands.few()], "lost": True}]


def _split(commands: Commands) -> list[dict[str, Any]]:
    """A pipeline that fails and begins a transaction, which the next one ends."""
    return [
        {"batch": [FAILING, REFUSED, MULTI, *commands.few()], "raises": True},
        {"batch": [["KEYS", "*"], EXEC]},
    ]


def _together(commands: Commands) -> list[dict[str, Any]]:
    return [{"batch": [MULTI, *commands.few(), REFUSED, EXEC, ["KEYS", "*"]], "raises": True}]


PLANTED = (
    *(_aborted, _failing, _discarded, _nested, _without_multi, _conflict),
    *(_reset, _lost, _split, _together),
)


class KeyedMaker(Maker):
    """A maker whose keys are mostly of the kind that the command is for."""

    def __init__(self, name: str, said: dict[str, Any], chance: random.Random, before: str) -> None:
        super().__init__(name, said.get("arguments", ()), chance)
        self.before = before
        self.kind = said["group"] if said["group"] in KINDS else ""

    def _text(self, name: str, kind: str) -> str:
        text = super()._text(name, kind)
        if kind == "key":
            astray = not self.kind or self.chance.random() < ASTRAY
            home = self.chance.choice(KINDS) if astray else self.kind
            return f"{self.before}{HOMES.get(home, home)}{self.chance.randrange(KEYS)}"
        if name == "script":
            return self.chance.choice(SCRIPTS)
        if name == "id" and self.name in READING:
            return self.chance.choice(("0", "20-0", ">"))
        if name in ("id", "lastid"):
            return f"{self.chance.randrange(1, 99)}-{self.chance.randrange(9)}"
        return text


def _blocks(call: list[str]) -> bool:
    return (call[0].startswith("B") and not call[0].startswith("BIT")) or "BLOCK" in call


def work(
    inside: Commands, bare: Commands, count: int, chance: random.Random
) -> Iterator[dict[str, Any]]:
    """Batches for the two namespaces and the bare neighbour of a worker, until they hold `count`
    commands. The neighbour sees the keys of all, so it never reads the whole keyspace."""
    made = 0
    while made < count:
        who = chance.randrange(3)
        if who < 2 and chance.random() < 0.05:
            yield {"who": who, "alone": inside.whole()}
            made += 1
        elif who < 2 and chance.random() < PLANTS:
            for step in inside.planted():
                yield {"who": who} | step
                made += len(step.get("lines", step.get("batch", ())))
        else:
            batch = (inside if who < 2 else bare).batch()
            yield {"who": who, "batch": batch}
            made += len(batch)
