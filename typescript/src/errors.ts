/** The codes of `spec/errors.md`, the same in every language. */
export type ErrorCode =
  | 'invalid_argument'
  | 'invalid_key'
  | 'unsupported_value'
  | 'entry_too_large'
  | 'value_too_large'
  | 'malformed_entry'
  | 'checksum_mismatch'
  | 'unsupported_version'
  | 'unsupported_flags'
  | 'unsupported_serializer'
  | 'unsupported_compressor'
  | 'unknown_dictionary'
  | 'not_encrypted'
  | 'unknown_encryption_key'
  | 'decryption_failed'
  | 'no_space'
  | 'config_mismatch'
  | 'unsupported_filesystem'
  | 'foreign_directory'
  | 'too_many_participants'
  | 'unsupported_platform'
  | 'closed'
  | 'unknown_command'
  | 'command_not_allowed'
  | 'invalid_namespace'
  | 'io'
  | 'wait_timeout'

/** What every error of this package is. A loader's own errors are passed on as they are. */
export abstract class PolycacheError extends Error {
  /** The error's name in every language. */
  abstract readonly code: ErrorCode

  /** Whether the same call may succeed later without a change by the caller. */
  get retryable(): boolean {
    return false
  }
}

/** An option is unknown, or its value is out of range or of a wrong type. */
export class InvalidArgument extends PolycacheError {
  readonly code = 'invalid_argument'
}

/** The key is neither text nor bytes, or text without a UTF-8 form. */
export class InvalidKey extends PolycacheError {
  readonly code = 'invalid_key'
}

/** The value, or a part of it, is not in the serializer's row of the type map. */
export class UnsupportedValue extends PolycacheError {
  readonly code = 'unsupported_value'
  /** Where the culprit stands: `$` is the value itself, `$.user.tags[3]` a part of it. */
  readonly path: string

  constructor(path: string, reason: string) {
    super(`cannot store the value at ${path}: ${reason}`)
    this.path = path
  }
}

/** Key and entry do not fit one block; the key's old value is gone. */
export class EntryTooLarge extends PolycacheError {
  readonly code = 'entry_too_large'
  /** Bytes that they take. */
  readonly size: number
  /** Bytes that they may take. */
  readonly limit: number

  constructor(message: string, size: number, limit: number) {
    super(message)
    this.size = size
    this.limit = limit
  }
}

/** An entry declares more uncompressed bytes than this reader accepts. */
export class ValueTooLarge extends PolycacheError {
  readonly code = 'value_too_large'
  /** Bytes that it declares. */
  readonly size: number
  /** Bytes that it may declare. */
  readonly limit: number

  constructor(message: string, size: number, limit: number) {
    super(message)
    this.size = size
    this.limit = limit
  }
}

/** The bytes are not an entry, or its payload does not decode. */
export class MalformedEntry extends PolycacheError {
  readonly code = 'malformed_entry'
}

/** The entry's checksum is wrong. */
export class ChecksumMismatch extends PolycacheError {
  readonly code = 'checksum_mismatch'
}

/** The entry format or the directory's layout is newer than this build. */
export class UnsupportedVersion extends PolycacheError {
  readonly code = 'unsupported_version'
}

/** An entry has a flag that this build does not know. */
export class UnsupportedFlags extends PolycacheError {
  readonly code = 'unsupported_flags'
}

/** An entry's serializer is unknown, or one that only another language decodes. */
export class UnsupportedSerializer extends PolycacheError {
  readonly code = 'unsupported_serializer'
}

/** An entry's compressor is unknown. */
export class UnsupportedCompressor extends PolycacheError {
  readonly code = 'unsupported_compressor'
}

/** The entry is compressed with a dictionary that the cache is not configured with. */
export class UnknownDictionary extends PolycacheError {
  readonly code = 'unknown_dictionary'
}

/** The entry is plain, and the cache is configured with `encryption`. */
export class NotEncrypted extends PolycacheError {
  readonly code = 'not_encrypted'
}

/** The entry is encrypted under a key that the cache is not configured with. */
export class UnknownEncryptionKey extends PolycacheError {
  readonly code = 'unknown_encryption_key'
}

/** The entry was changed or moved, or its key is another one under the same id. */
export class DecryptionFailed extends PolycacheError {
  readonly code = 'decryption_failed'
}

/** The disk is full with nothing to recycle, or live processes write every block. */
export class NoSpace extends PolycacheError {
  readonly code = 'no_space'
  override get retryable(): boolean {
    return true
  }
}

/** The directory exists with another byte limit than the one asked for. */
export class ConfigMismatch extends PolycacheError {
  readonly code = 'config_mismatch'
}

/** A file system on which memory is not shared between processes. */
export class UnsupportedFilesystem extends PolycacheError {
  readonly code = 'unsupported_filesystem'
}

/** The directory belongs to another user. */
export class ForeignDirectory extends PolycacheError {
  readonly code = 'foreign_directory'
}

/** 4095 handles are open on the directory. */
export class TooManyParticipants extends PolycacheError {
  readonly code = 'too_many_participants'
  override get retryable(): boolean {
    return true
  }
}

/** The host tier does not run here. */
export class UnsupportedPlatform extends PolycacheError {
  readonly code = 'unsupported_platform'
}

/** The cache was closed. */
export class Closed extends PolycacheError {
  readonly code = 'closed'
}

/** A Redis command that is not known, so that it cannot be said which of its words are keys. */
export class UnknownCommand extends PolycacheError {
  readonly code = 'unknown_command'
}

/** A Redis command that touches the whole server, or that cannot stay inside a namespace here. */
export class CommandNotAllowed extends PolycacheError {
  readonly code = 'command_not_allowed'
}

/** The namespace cannot be used with this command. */
export class InvalidNamespace extends PolycacheError {
  readonly code = 'invalid_namespace'
}

/** The operating system failed. */
export class IoError extends PolycacheError {
  readonly code = 'io'
  override get retryable(): boolean {
    return true
  }
}

/** Others loaded the key for as long as the caller waits at most, `waitTimeout`, and brought no value. */
export class WaitTimeout extends PolycacheError {
  readonly code = 'wait_timeout'
  override get retryable(): boolean {
    return true
  }
}

const all = {
  PolycacheError,
  InvalidArgument,
  InvalidKey,
  UnsupportedValue,
  EntryTooLarge,
  ValueTooLarge,
  MalformedEntry,
  ChecksumMismatch,
  UnsupportedVersion,
  UnsupportedFlags,
  UnsupportedSerializer,
  UnsupportedCompressor,
  UnknownDictionary,
  NotEncrypted,
  UnknownEncryptionKey,
  DecryptionFailed,
  NoSpace,
  ConfigMismatch,
  UnsupportedFilesystem,
  ForeignDirectory,
  TooManyParticipants,
  UnsupportedPlatform,
  Closed,
  UnknownCommand,
  CommandNotAllowed,
  InvalidNamespace,
  IoError,
  WaitTimeout,
}

// On the prototypes, so that the name is there when the stack trace is captured.
for (const [name, { prototype }] of Object.entries(all)) prototype.name = name
