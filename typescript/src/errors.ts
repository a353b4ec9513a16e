/** The codes of `spec/errors.md`, the same in every language. */
export type ErrorCode =
  | 'invalid_argument'
  | 'invalid_key'
  | 'unsupported_value'
  | 'wrong_type'
  | 'integer_overflow'
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
  | 'unsupported_filesystem'
  | 'foreign_directory'
  | 'read_only'
  | 'too_many_participants'
  | 'unsupported_platform'
  | 'closed'
  | 'unknown_command'
  | 'uncacheable_read'
  | 'command_not_allowed'
  | 'invalid_namespace'
  | 'io'
  | 'remote_unavailable'
  | 'wait_timeout'
  | 'conflict'
  | 'http_problem'

/** The class of all errors of this package. A loader's own errors are passed on unchanged. */
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

/**
 * The value, or a part of it, is not in the serializer's row of the type map; or the `encode` of a registered type
 * threw: that is the `cause`.
 */
export class UnsupportedValue extends PolycacheError {
  readonly code = 'unsupported_value'
  /** The path to the culprit: `$` is the value itself, `$.user.tags[3]` a part of it. */
  readonly path: string

  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`cannot store the value at ${path}: ${reason}`, options)
    this.path = path
  }
}

/** The `decode` of a registered type does not accept what was read; what it threw is the `cause`. */
export class WrongType extends PolycacheError {
  readonly code = 'wrong_type'
  /** The path to the value: `$` is the value itself, `$.user.tags[3]` a part of it. */
  readonly path: string

  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`cannot read the value at ${path}: ${reason}`, options)
    this.path = path
  }
}

/** Key and entry take more than a quarter of the directory, or the key more than a block; the key's old value is gone. */
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

/** The disk is full with nothing to recycle, or live processes write every block. */
export class NoSpace extends PolycacheError {
  readonly code = 'no_space'
  override get retryable(): boolean {
    return true
  }
}

/** Others loaded the key for longer than `waitTimeout`, and brought no value. */
export class WaitTimeout extends PolycacheError {
  readonly code = 'wait_timeout'
  override get retryable(): boolean {
    return true
  }
}

/** The integer, or the sum, does not fit 64 bits with a sign; nothing was stored. */
export class IntegerOverflow extends PolycacheError {
  readonly code = 'integer_overflow'
}

/** Others changed the key each time that an update of it was tried; nothing was stored. */
export class Conflict extends PolycacheError {
  readonly code = 'conflict'
  override get retryable(): boolean {
    return true
  }
}

/**
 * Names error classes: on their prototypes, so that the name is there when the stack trace is captured, and as text,
 * which stays when a program is minified.
 */
export function nameAll(classes: Record<string, { readonly prototype: Error }>): void {
  for (const [name, { prototype }] of Object.entries(classes)) prototype.name = name
}

nameAll({
  PolycacheError,
  InvalidArgument,
  InvalidKey,
  UnsupportedValue,
  WrongType,
  EntryTooLarge,
  NoSpace,
  WaitTimeout,
  IntegerOverflow,
  Conflict,
})
