"""Serves an app, and tells the controller so as lib/ready.mjs does."""

import asyncio
import gc
import json
import socket
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from typing import Any

import uvicorn
from fastapi import FastAPI

HOST = "127.0.0.1"

# How often a server reads the stream from Redis; the controller counts.
EACH, CHANGE, NEVER = "each request", "after a change", "never"

SERVER = ("fastapi", "starlette", "uvicorn", "uvloop", "httptools")
# hiredis reads what Redis sends, in C; redis-py uses it where it is.
CLIENT = ("redis", "hiredis")
NAMES = {"redis": "redis-py"}


def serve(
    app: FastAPI,
    reads: str,
    packages: Sequence[str] = (),
    notes: Sequence[str] = (),
    first: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """`reads`: one of the above. `packages`: those it is made of besides the server, for the
    machine's line. `notes`: what its rows have to say. `first`: what has to be over before it
    listens."""
    config = uvicorn.Config(
        app,
        host=HOST,
        port=0,
        loop="uvloop",
        http="httptools",
        log_level="warning",
        access_log=False,
    )
    told: dict[str, Any] = {
        "reads": reads,
        # Node's client is called redis as well.
        "versions": {NAMES.get(name, name): version(name) for name in (*SERVER, *packages)},
        "notes": list(notes),
    }
    server = Server(config, told)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(_serve(server, first))


class Server(uvicorn.Server):
    """Says where it listens once it does."""

    def __init__(self, config: uvicorn.Config, told: dict[str, Any]) -> None:
        super().__init__(config)
        self._told = told

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # What was imported stays. Looking through it takes 40 ms, in which nothing is answered.
        gc.collect()
        gc.freeze()
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            print(json.dumps({"port": port, "path": "/", **self._told}), flush=True)


async def _serve(server: Server, first: Callable[[], Awaitable[None]] | None) -> None:
    if first:
        await first()
    await server.serve()
