"""spec/vectors: reading them, and writing entries.python.json.

python tests/vectors.py               writes it anew
python tests/vectors.py encrypted     writes encrypted.python.json instead
"""

import json
import sys
from pathlib import Path
from typing import Any

from tagged import value_of

from polycache import EncryptionKey, _native

FOLDER = Path(__file__).resolve().parents[2] / "spec" / "vectors"
CREATED = 1_700_000_000_000
# Compressing everything would show nothing new: payloads are compressed whatever they hold.
COMPRESSED = {"null", "text empty", "text 3000 bytes", "bytes each", "a user", "every row in a map"}
HEADERS: dict[str, dict[str, Any]] = {
    "expires": {"expires": CREATED + 60_000},
    "expires at the end of time": {"expires": 2**48 - 1},
    "created at the beginning of time": {"created": 0},
    "fresh until": {"fresh_until": CREATED + 30_000},
    "fresh until, expires, zstd": {
        "fresh_until": CREATED + 30_000,
        "expires": CREATED + 60_000,
        "compressor": "zstd",
    },
    "tags": {"tags": [("users", 7), ("", 0), ("shop:é", 2**64 - 1)]},
    "everything": {
        "fresh_until": CREATED + 30_000,
        "expires": CREATED + 60_000,
        "tags": [("users", 7)],
        "compressor": "zstd:19",
    },
}


def rows(file: str) -> list[dict[str, Any]]:
    """The rows of a file; a list, so that each can be a test of its own."""
    read: list[dict[str, Any]] = json.loads((FOLDER / file).read_text("utf-8"))
    return read


def python_rows() -> list[dict[str, Any]]:
    """What belongs into entries.python.json."""
    written = []
    for row in rows("values.json"):
        if row["name"] == "text 65536 bytes":
            continue  # Rust writes it; once is enough for its size.
        for serializer in row["serializers"]:
            for compressor in ("none", "zstd:1") if row["name"] in COMPRESSED else ("none",):
                name = f"{row['name']}, {serializer}, {compressor}"
                options = {"serializer": serializer, "compressor": compressor}
                written.append(_entry(name, row["value"], options))
    written += [_entry(name, "a value", options) for name, options in HEADERS.items()]
    return written


def _entry(name: str, value: Any, options: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {"serializer": "messagepack", "compressor": "none", "created": CREATED}
    given |= options
    entry = _native.encode_entry(value_of(value), **given)
    tags = [[tag, str(generation)] for tag, generation in given.get("tags", [])]
    return {
        "name": name,
        "entry": entry.hex(),
        "serializer": given["serializer"],
        "compressor": given["compressor"].partition(":")[0],
        "created": given["created"],
        "expires": given.get("expires", 0),
        "fresh_until": given.get("fresh_until"),
        "tags": tags,
        "value": value,
    }


def keys_of(row: dict[str, Any]) -> list[EncryptionKey] | None:
    """The option `encryption` of a row."""
    keys = row["encryption"]
    return keys and [{"id": one["id"], "key": bytes.fromhex(one["key"])} for one in keys]


def encrypted_rows() -> list[dict[str, Any]]:
    """What belongs into encrypted.python.json; with other nonces each time."""
    written = []
    for row in rows("encryption.json"):
        entry = _native.encode_entry(
            value_of(row["value"]),
            **{name: row[name] for name in ("serializer", "compressor", "created", "expires")},
            fresh_until=row["fresh_until"],
            tags=[(tag, int(generation)) for tag, generation in row["tags"]],
            encryption=keys_of(row),
            full_key=bytes.fromhex(row["full_key"]),
        )
        written.append(row | {"entry": entry.hex()})
    return written


def main() -> None:
    encrypted = sys.argv[1:] == ["encrypted"]
    fresh = encrypted_rows() if encrypted else python_rows()
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in fresh]
    text = "[\n" + ",\n".join(lines) + "\n]\n"
    (FOLDER / f"{'encrypted' if encrypted else 'entries'}.python.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
