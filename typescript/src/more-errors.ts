/** Errors of directories, entries and Redis namespaces, which a program with a `MemoryCache` alone does without. */
import { nameAll, PolycacheError } from './errors.ts'

/** A value has more bytes before compression than the option `maxValue` allows, or too many values in it. */
export class ValueTooLarge extends PolycacheError {
  readonly code = 'value_too_large'
  /** Its bytes; or of those that its values count for, as many as were counted. */
  readonly size: number
  /** Bytes that it may have. */
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

/** A file system on which memory is not shared between processes, or btrfs, where a full disk would end them. */
export class UnsupportedFilesystem extends PolycacheError {
  readonly code = 'unsupported_filesystem'
}

/** The directory, or what it holds, is another user's or another program's. */
export class ForeignDirectory extends PolycacheError {
  readonly code = 'foreign_directory'
}

/** The cache can only be read: this process may not write to its files. */
export class ReadOnly extends PolycacheError {
  readonly code = 'read_only'
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

/** The operating system failed. */
export class IoError extends PolycacheError {
  readonly code = 'io'
  override get retryable(): boolean {
    return true
  }
}

/**
 * The cache's Redis or Valkey did not answer within `timeout`, or refused the command. What a write was to do may have been
 * done all the same.
 */
export class RemoteUnavailable extends PolycacheError {
  readonly code = 'remote_unavailable'
  override get retryable(): boolean {
    return true
  }
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

nameAll({
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
  UnsupportedFilesystem,
  ForeignDirectory,
  ReadOnly,
  TooManyParticipants,
  UnsupportedPlatform,
  Closed,
  IoError,
  RemoteUnavailable,
  UnknownCommand,
  CommandNotAllowed,
  InvalidNamespace,
})
