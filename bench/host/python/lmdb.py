"""py-lmdb with sync=False: text in, and text out that outlives its transaction."""

import lmdb
from session import GET, GET_ALL, PUT, PUT_100, PUT_ALL, Place, Reads, Run, Subject, Writes, serve


class Lmdb(Subject):
    name = "lmdb"
    versions = (("lmdb (PyPI)", lmdb.__version__),)

    def __init__(self, place: Place) -> None:
        self.env = lmdb.open(str(place.directory), map_size=8 * place.limit, sync=False)

    def operations(self) -> dict[str, Run]:
        return {
            PUT: self.put,
            PUT_100: self.put_100,
            PUT_ALL: self.fill,
            GET: self.get,
            GET_ALL: self.get_all,
        }

    def put(self, writes: Writes) -> None:
        begin = self.env.begin
        for key, value in writes:
            with begin(write=True) as transaction:
                transaction.put(key.encode(), value.encode())

    def put_100(self, writes: Writes) -> None:
        for first in range(0, len(writes), 100):
            self.fill(writes[first : first + 100])

    def fill(self, writes: Writes) -> None:
        with self.env.begin(write=True) as transaction:
            put = transaction.put
            for key, value in writes:
                put(key.encode(), value.encode())

    def get(self, keys: Reads) -> int:
        begin, misses = self.env.begin, 0
        for key in keys:
            with begin() as transaction:
                value = transaction.get(key.encode())
            if value is None:
                misses += 1
            else:
                value.decode()
        return misses

    def get_all(self, keys: Reads) -> int:
        misses = 0
        with self.env.begin() as transaction:
            get = transaction.get
            for key in keys:
                value = get(key.encode())
                if value is None:
                    misses += 1
                else:
                    value.decode()
        return misses

    def value(self, key: str) -> str | None:
        with self.env.begin() as transaction:
            value = transaction.get(key.encode())
        return None if value is None else value.decode()

    def close(self) -> None:
        self.env.close()


serve(Lmdb)
