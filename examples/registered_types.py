"""A dataclass and an enum in the cache, for every language that registers their names."""

import enum
from dataclasses import dataclass, field

import polycache


class Status(enum.Enum):
    ACTIVE = "active"
    RETIRED = "retired"


@dataclass
class User:
    id: int
    name: str
    status: Status = Status.ACTIVE
    tags: list[str] = field(default_factory=list)


types = {"user": User, "status": Status}
with polycache.Cache(".cache", namespace=["examples", "types"], types=types) as cache:
    ada = User(1, "Ada Lovelace", tags=["admin"])
    cache.set("ada", ada)
    read = cache.get("ada")
    print(read)
    assert read == ada and read is not ada

    # Any of the examples, in any language, may have written it.
    print(cache.get_or_set("shared", lambda: User(2, "Grace Hopper")))
    assert cache.get("shared").name == "Grace Hopper"
