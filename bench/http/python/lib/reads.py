"""Cached reads of the stream: its JSON, encoded once for each change of it, and kept coherent by
the listener."""

import asyncio
import os

from answer import KEY, milliseconds, times
from polycache.http import Composite, Representation
from polycache.reads import cached
from redispy import connect

READS = cached(connect(), path=os.environ["CACHE_DIRECTORY"])


async def read() -> Representation:
    return await READS.json.xrange(KEY, "-", "+")


async def answer() -> Composite:
    """The page's answer around it, whose bytes are not touched."""
    start = milliseconds()
    value = await read()
    return value.within("value", times(start), incidental=True)


async def heard() -> None:
    """Returns once this host hears of changes of the stream."""
    while READS.stats().memory_hits == 0:
        await read()
        await asyncio.sleep(0.005)
