"""Does one language's work of run.py: the same commands through a namespaced client and, without a
namespace, on the model's database."""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import redis
from polycache.redis_namespace import namespaced

SHOWN = 10
TIMEOUT = 60

Reply = Any
Step = dict[str, Any]


@dataclass
class Keyspace:
    """A keyspace and its model."""

    client: redis.Redis
    model: redis.Redis
    prefix: str


def connect(port: str, database: int = 0) -> redis.Redis:
    # A transaction begun by hand belongs to a connection.
    return redis.Redis(
        port=int(port),
        db=database,
        protocol=3,
        socket_timeout=TIMEOUT,
        single_connection_client=True,
    )


def canonical(reply: Reply, prefix: str) -> str:
    """Replies that a server gives in any order, in one order; and errors by their text, in which a
    server may name the key as it knows it."""
    if isinstance(reply, Exception):
        return re.sub(f"'{re.escape(prefix)}", "'", str(reply), count=1)
    if isinstance(reply, dict):
        reply = [[key, value] for key, value in reply.items()]
    if isinstance(reply, list | set | tuple):
        return f"[{', '.join(sorted(canonical(one, prefix) for one in reply))}]"
    return repr(reply)


def sent(client: redis.Redis, step: Step, database: int) -> list[Reply]:
    bare: Any = client
    if "alone" in step:
        return [bare.execute_command(*step["alone"])]
    # On the connection itself: redis-py would reshape the replies by the commands' names.
    connection: Any = bare.connection
    if "lines" in step:
        number = _called(bare, ["CLIENT", "ID"]) if "lost" in step else None
        replies = [_called(bare, words) for words in step["lines"]]
        if number is not None:
            _lose(bare, number)
        if "reset" in step:
            # RESET returns to the first database and to RESP2, in which redis-py's parser of RESP3
            # takes a null and the byte after it for a text.
            _called(bare, ["HELLO", "3"])
            _called(bare, ["SELECT", str(database)])
        return replies
    connection.send_packed_command(connection.pack_commands(step["batch"]))
    return [_read(connection) for _ in step["batch"]]


def _called(client: Any, words: list[str]) -> Reply:
    if words[0] == "DBSIZE":
        return client.dbsize()
    client.connection.send_command(*words)
    return _read(client.connection)


def _lose(client: Any, number: int) -> None:
    """The connection is lost, with what the server knows of it."""
    options = client.connection_pool.connection_kwargs
    with redis.Redis(host=options["host"], port=options["port"]) as killer:
        killer.client_kill_filter(_id=number)
    with suppress(redis.ResponseError, redis.ConnectionError):
        client.execute_command("EXEC")


def _read(connection: Any) -> Reply:
    try:
        return connection.read_response()
    except redis.ResponseError as error:
        return error


def main() -> None:
    work, shared, models, first, *names = sys.argv[1:]
    keyspaces = [
        Keyspace(
            namespaced(connect(shared), name), connect(models, int(first) + number), f"{name}:"
        )
        for number, name in enumerate(names)
    ]
    keyspaces.append(Keyspace(connect(shared), connect(models, int(first) + len(names)), ""))
    mismatches, commands, before = [], 0, ""
    with open(work) as lines:
        for line in lines:
            step = json.loads(line)
            keyspace = keyspaces[step["who"]]
            try:
                found, expected = (
                    [canonical(reply, keyspace.prefix) for reply in sent(client, step, database)]
                    for client, database in (
                        (keyspace.client, 0),
                        (keyspace.model, int(first) + step["who"]),
                    )
                )
            except BaseException as error:
                error.add_note(f"in the step {line.strip()}, after {before.strip()}")
                raise
            before = line
            commands += len(step.get("batch") or step.get("lines") or [None])
            if sorted(found) != sorted(expected):
                pairs = zip(found, expected, strict=True)
                differ = [f"{is_} is not {should}" for is_, should in pairs if is_ != should]
                mismatches.append(f"python: {line.strip()}: {differ[:3]}")
    print(json.dumps({"commands": commands, "mismatches": mismatches[:SHOWN]}))


if __name__ == "__main__":
    main()
