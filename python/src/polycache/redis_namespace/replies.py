"""Takes the prefix off what comes back (spec/commands.md, "Replies").

None, an error and anything of another shape stay as they are.
"""

from collections.abc import Callable
from typing import Any

from .prefix import Prefix

Reply = Callable[[Any, Prefix], Any]


def key(reply: Any, prefix: Prefix) -> Any:
    return prefix.strip(reply)


def keys(reply: Any, prefix: Prefix) -> Any:
    return prefix.strip_all(reply) if isinstance(reply, list) else reply


def first(reply: Any, prefix: Prefix) -> Any:
    return [prefix.strip(reply[0]), *reply[1:]] if isinstance(reply, list) and reply else reply


def scan(reply: Any, prefix: Prefix) -> Any:
    if isinstance(reply, list) and len(reply) == 2:
        return [reply[0], keys(reply[1], prefix)]
    return reply


def streams(reply: Any, prefix: Prefix) -> Any:
    if isinstance(reply, dict):
        return {prefix.strip(name): value for name, value in reply.items()}
    return [first(pair, prefix) for pair in reply] if isinstance(reply, list) else reply


def channels(reply: Any, prefix: Prefix) -> Any:
    if not isinstance(reply, list):
        return reply
    return [prefix.strip(name) for name in reply if prefix.of(name)]


def counts(reply: Any, prefix: Prefix) -> Any:
    if isinstance(reply, dict):
        return {prefix.strip_channel(name): value for name, value in reply.items()}
    if isinstance(reply, list):
        return [one if at % 2 else prefix.strip_channel(one) for at, one in enumerate(reply)]
    return reply


def prefixes(reply: Any, prefix: Prefix) -> Any:
    if isinstance(reply, dict):
        return {
            name: keys(value, prefix) if name in _PREFIXES else value
            for name, value in reply.items()
        }
    if isinstance(reply, list):
        return [
            keys(one, prefix) if at and _is_prefixes(reply[at - 1]) else one
            for at, one in enumerate(reply)
        ]
    return reply


_PREFIXES = ("prefixes", b"prefixes")


def _is_prefixes(name: Any) -> bool:
    return isinstance(name, (str, bytes)) and name in _PREFIXES


def message(event: Any, prefix: Prefix) -> Any:
    """What a server pushes to a subscriber, or None when it tells of another namespace's key."""
    if not isinstance(event, list) or not event:
        return event
    kind = event[0].decode() if isinstance(event[0], bytes) else event[0]
    told = _EVENTS.get(kind) if isinstance(kind, str) else None
    return told(event, prefix) if told else event


# Confirmations of subscriptions that come back as a command's reply.
messages = message


def _named(event: list[Any], prefix: Prefix) -> Any:
    kind, name, *count = event
    return [kind, prefix.strip_channel(name), *count]


def _named_pattern(event: list[Any], prefix: Prefix) -> Any:
    kind, name, *count = event
    return [kind, prefix.strip_channel_pattern(name), *count]


def _published(event: list[Any], prefix: Prefix) -> Any:
    kind, channel, payload = event
    if prefix.is_invalidate(channel):
        return _invalidation(event, prefix)
    if not _told(channel, payload, prefix):
        return None
    return [kind, prefix.strip_channel(channel), _payload(channel, payload, prefix)]


def _matched(event: list[Any], prefix: Prefix) -> Any:
    kind, pattern, channel, payload = event
    if not _told(channel, payload, prefix):
        return None
    pattern = prefix.strip_channel_pattern(pattern)
    return [kind, pattern, prefix.strip_channel(channel), _payload(channel, payload, prefix)]


# The payload of an event's channel is the key.
def _told(channel: Any, payload: Any, prefix: Prefix) -> bool:
    return not prefix.is_event(channel) or prefix.of(payload)


def _payload(channel: Any, payload: Any, prefix: Prefix) -> Any:
    return prefix.strip(payload) if prefix.is_event(channel) else payload


def _invalidation(event: list[Any], prefix: Prefix) -> Any:
    """Its last part is a list of keys; none means all of them."""
    *named, names = event
    if names is None:
        return event
    ours = channels(names, prefix)
    return [*named, ours] if ours else None


_EVENTS: dict[str, Callable[[list[Any], Prefix], Any]] = {
    "message": _published,
    "smessage": _published,
    "pmessage": _matched,
    "subscribe": _named,
    "unsubscribe": _named,
    "ssubscribe": _named,
    "sunsubscribe": _named,
    "psubscribe": _named_pattern,
    "punsubscribe": _named_pattern,
    "invalidate": _invalidation,
}

BY_NAME: dict[str, Reply] = {
    "key": key,
    "keys": keys,
    "first": first,
    "scan": scan,
    "streams": streams,
    "channels": channels,
    "counts": counts,
    "prefixes": prefixes,
    "messages": messages,
}
