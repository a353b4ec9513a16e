"""A value is loaded once, however many callers and processes ask, until it is deleted."""

import polycache

loads = 0


def load_price() -> dict[str, object]:
    """Stands for your database."""
    global loads
    loads += 1
    return {"apple": 120, "pear": 90, "currency": "EUR"}


with polycache.Cache(".cache", namespace=["examples", "get_or_set.py"]) as cache:
    cache.clear()

    for _ in range(3):
        prices = cache.get_or_set("prices", load_price, ttl="5m")
    print(f"{prices} after {loads} load")
    assert loads == 1

    cache.delete("prices")
    cache.get_or_set("prices", load_price, ttl="5m")
    print(f"{loads} loads after a delete; {cache.ttl('prices'):.0f} s to live")
    assert loads == 2

    # A loader's error is its caller's; nothing is stored, and the next caller loads.
    try:
        cache.get_or_set("broken", lambda: 1 // 0)
    except ZeroDivisionError as error:
        print(f"the loader's own error: {error}")
    assert "broken" not in cache

    # None is a value. MISSING tells it apart from a miss.
    cache.set("discount", None)
    assert cache.get("discount", polycache.MISSING) is None
    assert cache.get("absent", polycache.MISSING) is polycache.MISSING
