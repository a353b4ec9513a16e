"""The vectors of keys (spec/keys.md): full keys and their hashes."""

import vectors
from tagged import value_of

from polycache import PolycacheError, _native


def test_hashes() -> None:
    for row in vectors.rows("hash.json"):
        found = _native.key_hash(bytes.fromhex(row["key"]), int(row["seed"], 16))
        assert f"{found:016x}" == row["hash"], row


def test_full_keys() -> None:
    for row in vectors.rows("keys.json"):
        try:
            found = _native.full_key(row["namespace"], value_of(row["key"])).hex()
        except PolycacheError as error:
            assert error.code == row["error"], row
        else:
            assert found == row["full"], row
