"""Our remote tier with a directory: what is read again comes from a copy that is kept coherent."""

from cache_subject import CacheSubject
from redis_subject import measure


class Near(CacheSubject):
    name = "polycache-redis"
    notes = ("JSON", "reads come from coherent copies")


measure(Near)
