"""Every error of the package: one class for each code of spec/errors.md."""

from typing import ClassVar


class PolycacheError(Exception):
    """The base class.

    `code` is the same in every language; `retryable` says whether the same call may succeed later
    without a change by the caller.
    """

    code: ClassVar[str]
    retryable: ClassVar[bool] = False


class InvalidArgument(PolycacheError, ValueError):
    """An option is unknown, or an argument out of range or of a wrong type."""

    code = "invalid_argument"


class InvalidKey(PolycacheError, TypeError):
    """The key is neither str nor bytes, or a str with a lone surrogate."""

    code = "invalid_key"


class UnsupportedValue(PolycacheError, TypeError):
    """The value is not in the serializer's row of the type map.

    `path` leads to the culprit: `$` is the value itself, `$.user.tags[3]` a part of it.
    """

    code = "unsupported_value"

    def __init__(self, message: str, path: str = "$") -> None:
        super().__init__(message)
        self.path = path


class WrongType(PolycacheError, TypeError):
    """The `decode` of a registered type does not accept what was read; its error is `__cause__`.

    `path` leads to the value: `$` is the whole one, `$.user.tags[3]` a part of it.
    """

    code = "wrong_type"

    def __init__(self, message: str, path: str = "$") -> None:
        super().__init__(message)
        self.path = path


class EntryTooLarge(PolycacheError, ValueError):
    """Key and entry take more than a quarter of the directory, or the key more than a block, or an
    object weighs more than all in its cache may.

    The key's old value is gone; in a `MemoryCache` it stays. `size` and `limit` are in bytes, or in
    what `getsizeof` counts.
    """

    code = "entry_too_large"

    def __init__(self, message: str, size: int = 0, limit: int = 0) -> None:
        super().__init__(message)
        self.size = size
        self.limit = limit


class ValueTooLarge(PolycacheError):
    """A value has more uncompressed bytes than `max_value` allows, or too many values in it.

    Sizes are in bytes; `size` may be what the values count for, as far as they were counted."""

    code = "value_too_large"

    def __init__(self, message: str, size: int = 0, limit: int = 0) -> None:
        super().__init__(message)
        self.size = size
        self.limit = limit


class MalformedEntry(PolycacheError):
    """The bytes are not an entry, or its payload does not decode."""

    code = "malformed_entry"


class ChecksumMismatch(PolycacheError):
    """The entry's checksum is wrong."""

    code = "checksum_mismatch"


class UnsupportedVersion(PolycacheError):
    """The entry format or the directory's layout is newer than this build."""

    code = "unsupported_version"


class UnsupportedFlags(PolycacheError):
    """The entry has a flag that this build does not know."""

    code = "unsupported_flags"


class UnsupportedSerializer(PolycacheError):
    """The entry's serializer is unknown, or one that Python cannot decode."""

    code = "unsupported_serializer"


class UnsupportedCompressor(PolycacheError):
    """The entry's compressor is unknown, or one that this build lacks."""

    code = "unsupported_compressor"


class UnknownDictionary(PolycacheError):
    """The entry is compressed with a dictionary that the cache is not configured with."""

    code = "unknown_dictionary"


class NotEncrypted(PolycacheError):
    """The entry is plain, and the cache is configured with `encryption`."""

    code = "not_encrypted"


class UnknownEncryptionKey(PolycacheError):
    """The entry is encrypted under a key that the cache is not configured with."""

    code = "unknown_encryption_key"


class DecryptionFailed(PolycacheError):
    """The entry was changed or moved, or its key is another one under the same id."""

    code = "decryption_failed"


class NoSpace(PolycacheError):
    """The disk is full with nothing to recycle, or live processes write every block."""

    code = "no_space"
    retryable = True


class UnsupportedFilesystem(PolycacheError):
    """A network or FUSE file system, where memory is not shared, or btrfs.

    On btrfs a full disk would end processes.
    """

    code = "unsupported_filesystem"


class ForeignDirectory(PolycacheError):
    """The directory, or what it holds, is another user's or another program's."""

    code = "foreign_directory"


class ReadOnly(PolycacheError):
    """The cache can only be read: this process may not write to its files."""

    code = "read_only"


class TooManyParticipants(PolycacheError):
    """4095 handles are open on the directory."""

    code = "too_many_participants"
    retryable = True


class UnsupportedPlatform(PolycacheError):
    """The host tier does not run here (big-endian, Windows)."""

    code = "unsupported_platform"


class Closed(PolycacheError):
    """The cache was closed."""

    code = "closed"


class UncacheableRead(PolycacheError):
    """The reply of a Redis command cannot be cached; the message says why. Send it by the client
    itself."""

    code = "uncacheable_read"


class UnknownCommand(PolycacheError):
    """An unknown Redis command: it is unclear which of its words are keys."""

    code = "unknown_command"


class CommandNotAllowed(PolycacheError):
    """A Redis command that touches the whole server, or that cannot stay inside a namespace."""

    code = "command_not_allowed"


class InvalidNamespace(PolycacheError):
    """The namespace cannot be used with this command."""

    code = "invalid_namespace"


class IoError(PolycacheError, OSError):
    """The operating system failed; the message is its own."""

    code = "io"
    retryable = True


class RemoteUnavailable(PolycacheError, ConnectionError):
    """The cache's Redis or Valkey did not answer within `timeout`, or refused the command.

    What a write was to do may have been done all the same.
    """

    code = "remote_unavailable"
    retryable = True


class IntegerOverflow(PolycacheError):
    """The integer, or the sum, does not fit 64 bits with a sign; nothing was stored."""

    code = "integer_overflow"


class Conflict(PolycacheError):
    """Others changed the key each time that an update of it was tried; nothing was stored."""

    code = "conflict"
    retryable = True


class WaitTimeout(PolycacheError, TimeoutError):
    """A caller waited `wait_timeout` for the loads of others, and none brought the value."""

    code = "wait_timeout"
    retryable = True


_BY_CODE: dict[str, type[PolycacheError]] = {
    error.code: error for error in PolycacheError.__subclasses__()
}


def from_code(code: str, message: str, **facts: object) -> PolycacheError:
    """The error of that code; the native extension creates all of its errors with it."""
    return _BY_CODE[code](message, **facts)
