"""Loading what was missed, in tasks of asyncio: `loading.py` without blocking the event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any
from weakref import ref

from . import _native
from .aside import aside
from .lifetime import LoadTtl, after_load, before_load
from .loading import Loads, again, check_loader, inside, joining, patience, waking
from .loading_many import Load, LoadAlone, Many, ManyLoads, Wait, itself
from .missing import MISSING
from .observers import Watch, awaitable


async def load_async(
    cache: Loads,
    key: Any,
    loader: Callable[[], Awaitable[Any]],
    ttl: LoadTtl,
    lenient: bool = False,
) -> Any:
    """As `loading.load`; joins and is joined by threads and by tasks of other event loops."""
    check_loader(loader)
    watch = Watch(listeners) if (listeners := cache._observers.listeners) else None
    if watch is not None:
        loader = watch.around_async(loader)
    me = asyncio.current_task()
    here = asyncio.get_running_loop()
    task = None if me is None else (ref(me), ref(here))
    part = cache._begin(key, task, 0.0)
    try:
        began = 0.0
        while not part.mine:
            began = began or monotonic()
            with joining(part, me, lenient) as loads_alone:
                if loads_alone:
                    return await awaitable(loader())
                if watch is not None:
                    watch.waits()
                value = await wait(part, began + cache._wait_timeout - monotonic(), here)
            if value is not MISSING:
                return value
            part = await aside(cache, again, cache, key, task, monotonic() - began)
        try:
            while (step := await aside(cache, part.step)) is not None:
                if isinstance(step, tuple):
                    return step[0]
                if watch is not None:
                    watch.waits()
                await asyncio.sleep(step)
            token = inside.set((*inside.get(), ref(part)))
            try:
                loaded = await awaitable(loader())
                lives = after_load(ttl, loaded)
                return await aside(cache, part.fill, loaded, lives, not lenient)
            finally:
                # A coroutine that is collected ends in another context.
                with suppress(ValueError):
                    inside.reset(token)
        except Exception as error:
            part.fail(error)
            raise
        except BaseException:
            part.abandon()
            raise
    finally:
        if watch is not None:
            watch.waited()


async def load_many_async(
    cache: ManyLoads,
    keys: Any,
    loader: Callable[[list[Any]], Awaitable[Any]],
    ttl: LoadTtl,
    name: Callable[[Any], Any] = itself,
    copy: Callable[[Any], Any] = itself,
) -> dict[Any, Any]:
    """As `loading_many.load_many`."""
    asked, found = hits = await aside(cache, cache._hits, keys, before_load(ttl))
    if len(found) == len(asked):
        return found
    check_loader(loader)
    me = asyncio.current_task()
    here = asyncio.get_running_loop()
    with Many(cache, hits, ttl, (me, here), name, copy) as many:
        if many.watch is not None:
            loader = many.watch.around_async(loader)
        while (turn := await aside(cache, many.turn)) is not None:
            match turn:
                case Load(wanted):
                    with many.loading():
                        loaded = await awaitable(loader(wanted))
                        await aside(cache, many.fill, loaded)
                case LoadAlone(wanted):
                    many.hand_over(await awaitable(loader(wanted)))
                case Wait(parts, seconds):
                    with many.waiting():
                        await wait_for_any(parts, seconds, here)
        return many.result()


async def wait(part: _native.Load, left: float, here: asyncio.AbstractEventLoop) -> Any:
    """The value of the load when it is over; MISSING when there is none then, or yet."""
    await wait_for_any([part], patience(part, left, here), here)
    return part.answer()


async def wait_for_any(
    parts: list[_native.Load], seconds: float, here: asyncio.AbstractEventLoop
) -> None:
    """Waits until one of the loads is over, so many seconds at most."""
    over = here.create_future()

    def done() -> None:
        if not over.done():
            over.set_result(None)

    def wake() -> None:
        # No task waits any more in a loop that was closed.
        with suppress(RuntimeError):
            here.call_soon_threadsafe(done)

    with waking(parts, wake) as sleeps:
        if sleeps:
            timer = here.call_later(seconds, done)
            try:
                await over
            finally:
                timer.cancel()
