"""Arrow's tables, record batches and buffers as registered types."""

from io import BytesIO
from typing import Any

from ..registered_types import Type
from .library import library


def arrow_types() -> dict[str, Type[Any]]:
    """Registered types for `pyarrow.Table`, `RecordBatch` and `Buffer`, for the option `types`.

    Tables and batches are written as an Arrow IPC stream, which every implementation of Arrow
    reads; the data is copied once. What is read lies over the bytes that were read, and cannot be
    written. Arrow checks all of it first (`validate(full=True)`: lengths, offsets, UTF-8), because
    it would trust it later; what it refuses is `WrongType`.

    Raises `ImportError` without the package pyarrow.
    """
    pa = library("pyarrow", "arrow")
    ipc = library("pyarrow.ipc", "arrow")

    def encode(table: Any) -> bytes:
        # Its bytes are handed out as they are, where `to_pybytes` of Arrow's buffer copies.
        written = BytesIO()
        with ipc.new_stream(written, table.schema) as stream:
            stream.write(table)
        return written.getvalue()

    # Nothing is copied that threads could share, so Arrow need not start any.
    alone = ipc.IpcReadOptions(use_threads=False)

    def stream_of(value: Any) -> Any:
        stream = ipc.open_stream(pa.py_buffer(_bytes(value)), options=alone)
        # Raises for a column's name that is not UTF-8, which `validate` does not look at.
        _ = stream.schema.names
        return stream

    def decode_table(value: Any) -> Any:
        table = stream_of(value).read_all()
        table.validate(full=True)
        return table

    def decode_batch(value: Any) -> Any:
        batches = list(stream_of(value))
        if len(batches) != 1:
            raise ValueError(f"one record batch is expected, not {len(batches)}")
        batches[0].validate(full=True)
        return batches[0]

    return {
        "pyarrow.Table": Type(pa.Table, encode=encode, decode=decode_table),
        "pyarrow.RecordBatch": Type(pa.RecordBatch, encode=encode, decode=decode_batch),
        "pyarrow.Buffer": Type(
            pa.Buffer,
            encode=lambda buffer: buffer.to_pybytes(),
            decode=lambda value: pa.py_buffer(_bytes(value)),
        ),
    }


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"bytes are expected, not {type(value).__name__}")
    return value
