"""Namespaces keep keys apart, nest, and are cleared in one step, however much they hold."""

import polycache

with polycache.Cache(".cache", namespace=["examples", "namespaces.py"]) as shop:
    shop.clear()
    users = shop.namespace("users")
    archive = users.namespace("archive")
    neighbours = shop.namespace("usersAbc")

    for cache in (shop, users, archive, neighbours):
        cache.set("1", str(cache))
    users.set_many({"name:ada": "Ada", "name:alan": "Alan", "age:ada": 36})
    print(sorted(users.keys("name:")))
    assert users.get_many(["name:ada", "name:eve"]) == {"name:ada": "Ada"}

    # What is nested goes with it; neighbours and parents stay.
    users.clear()
    print([cache.has("1") for cache in (shop, users, archive, neighbours)])
    assert ("1" in shop, "1" in neighbours) == (True, True)
    assert ("1" in users, "1" in archive) == (False, False)
