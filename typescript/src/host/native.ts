import { types } from 'node:util'
import load from '#native'
import type { CheckReport, Holdings } from '../any-namespace.ts'
import { tooHeavy } from '../entry/weight.ts'
import {
  EntryTooLarge,
  IntegerOverflow,
  InvalidArgument,
  NoSpace,
  type PolycacheError,
  UnsupportedValue,
  WrongType,
} from '../errors.ts'
import {
  ChecksumMismatch,
  Closed,
  DecryptionFailed,
  ForeignDirectory,
  IoError,
  MalformedEntry,
  NotEncrypted,
  ReadOnly,
  RemoteUnavailable,
  TooManyParticipants,
  UnknownDictionary,
  UnknownEncryptionKey,
  UnsupportedCompressor,
  UnsupportedFilesystem,
  UnsupportedFlags,
  UnsupportedPlatform,
  UnsupportedSerializer,
  UnsupportedVersion,
} from '../more-errors.ts'
import type {
  NativeReads,
  NativeRemote,
  RemoteOperations,
  RemoteOptions,
} from '../remote/native.ts'
import type { SocketOperations } from '../remote/sockets.ts'
import type { MachineStats, Usage } from '../stats.ts'

/**
 * How a directory is opened; `limit` and `mode` are absent for the existing ones, times are milliseconds. With `unmapped`
 * JavaScript reads no hits itself.
 */
export interface OpenOptions {
  path: string
  limit?: number
  mode?: number
  leaseTimeout: number
  emptyAtBoot: boolean
  /** 0 for never. */
  flushEvery: number
  manualClock: boolean
  unmapped?: boolean
}

/** Where everything lies in the mapping; offsets and sizes are bytes. */
export interface Layout {
  epochAt: number
  slotsAt: number
  visitedAt: number
  indexLength: number
  /** Buckets of each level, opened or not. */
  levels: number[]
  bucketSlots: number
  blockSize: number
  unit: number
  windowSize: number
  blocksLength: number
  recordHeader: number
  entryHeader: number
  limit: number
  seedLow: number
  seedHigh: number
  /** Whether the processor keeps loads in order, which JavaScript cannot ask for. */
  orderedLoads: boolean
  /** Whether the pages may only be read. */
  readOnly: boolean
}

/** An open directory. */
export interface NativeStore {
  readonly path: string
  layout(): Layout
  /** Called once each: an engine may abort when an address is wrapped twice. */
  indexBuffer(): ArrayBuffer | null
  windowBuffer(window: number): ArrayBuffer | null
  namespace(
    parts: string[],
    serializer: number,
    level: number,
    maxValue: number,
    encryption?: NativeEncryption,
    dictionaries?: NativeDictionaries,
    timeToIdle?: number,
  ): NativeNamespace
  setClock(now: number): void
  stats(): Holdings
  machineStats(): MachineStats
  usage(most: number): Promise<Usage[]>
  /** Adds to what the machine counts; in the order of `native/src/store.rs`. */
  addCounts(counts: number[]): void
  check(): Promise<CheckReport>
  /** Looks whether the files are still those of the path. */
  look(): void
  flush(): Promise<void>
  close(): void
}

/** A namespace of an open directory, as one cache writes and reads it. */
export interface NativeNamespace {
  readonly number: number
  keys(prefix: Uint8Array, cursor: number, budget: number): { next?: number; keys: Uint8Array[] }
  putEntry(key: Uint8Array, entry: Uint8Array): void
  clear(): void
}

/** Keys that entries are encrypted with; their bytes are not JavaScript's. */
export interface NativeEncryption {
  readonly __keys: never
}

/** Dictionaries that zstd compresses with, prepared. */
export interface NativeDictionaries {
  readonly __dictionaries: never
}

/** What an entry says of its value. `level` is the zstd level, 0 without compression, -1 for smart. */
export interface EntryHeader {
  serializer: number
  level: number
  created: number
  expires: number
  freshUntil?: number
  tags: { name: string; generation: string }[]
}

/** The holder of a lock: slot, word and the clears before it was taken. */
export type Token = BigUint64Array

/** What `get` answers instead of a length. */
export const MISS = -1
/** What `loadStep` and `lockStep` do: below `WAITS` they say how many microseconds to wait. */
export const LOAD_NOW = -2
export const WAITED_IN_VAIN = -3
export const WAITS = -4
/** What `loadFill` answers. */
export const REFUSED = 0
export const STORED = 1

/** What a write on a condition is called with; `measured` is what `measure` in `entry/weight.ts` says. */
export type Write = [
  namespace: number,
  key: Uint8Array,
  from: number,
  to: number,
  payload: Uint8Array,
  measured: number,
  ttl: number,
]

/** The callbacks of `operations.rs`, `seen.rs`, `conditional.rs` and `loads.rs` in `native/src`, which say what they do. */
export interface Operations {
  get(
    namespace: number,
    key: Uint8Array,
    from: number,
    to: number,
    out: Uint8Array,
    origin: BigUint64Array,
  ): number
  put(
    namespace: number,
    key: Uint8Array,
    from: number,
    to: number,
    payload: Uint8Array,
    measured: number,
    ttl: number,
  ): void
  delete(namespace: number, key: Uint8Array, from: number, to: number): boolean
  ttl(namespace: number, key: Uint8Array, from: number, to: number): number
  peek(
    namespace: number,
    key: Uint8Array,
    from: number,
    to: number,
    out: Uint8Array,
    seen: BigUint64Array,
  ): number
  remove(
    namespace: number,
    key: Uint8Array,
    from: number,
    to: number,
    seen: BigUint64Array,
  ): boolean
  invalidateLoads(namespace: number, key: Uint8Array, from: number, to: number): boolean
  touch(namespace: number, key: Uint8Array, from: number, to: number, ttl: number): boolean
  version(
    namespace: number,
    key: Uint8Array,
    from: number,
    to: number,
    seen: BigUint64Array,
  ): boolean
  prefetch(namespace: number, keys: Uint8Array, length: number): void
  add(...write: Write): boolean
  replace(...write: Write): boolean
  compareAndSet(...write: [...Write, version: BigUint64Array]): boolean
  exchange(...write: [...Write, seen: BigUint64Array]): boolean
  increment(
    namespace: number,
    key: Uint8Array,
    from: number,
    to: number,
    ttl: number,
    integers: BigUint64Array,
    subtracts: number,
  ): void
  loadBegin(waitTimeout: number): number
  loadStep(
    namespace: number,
    key: Uint8Array,
    from: number,
    to: number,
    out: Uint8Array,
    load: number,
    waited: number,
    beside: number,
  ): number
  loadFill(
    namespace: number,
    key: Uint8Array,
    from: number,
    to: number,
    payload: Uint8Array,
    measured: number,
    ttl: number,
    load: number,
  ): number
  loadEnd(namespace: number, load: number): void
  loadOpen(namespace: number, load: number): boolean
  lockStep(
    namespace: number,
    key: Uint8Array,
    from: number,
    to: number,
    token: Token,
    waited: number,
    wait: number,
  ): number
  unlock(namespace: number, token: Token): void
  locked(namespace: number, key: Uint8Array, from: number, to: number): boolean
  floor(namespace: number): number
}

/** The native part of the package. */
export interface Native {
  /** The version of the package that it belongs to. */
  version(): string
  /** Runs the command `polycache` with these arguments, the program's name first; gives its exit code. */
  cli(commandLine: string[]): number
  NativeStore: { open(options: OpenOptions): NativeStore }
  NativeRemote: { open(options: RemoteOptions): NativeRemote }
  NativeReads: { open(remote: NativeRemote, prefixes: Uint8Array[]): NativeReads }
  NativeEncryption: {
    of(keys: readonly { id: number; key: Uint8Array }[]): NativeEncryption
  }
  NativeDictionaries: {
    of(dictionaries: readonly Uint8Array[], level: number): NativeDictionaries
  }
  detach(buffer: ArrayBuffer): void
  operations(): Operations
  remoteOperations(): RemoteOperations
  socketOperations(): SocketOperations
  encodeEntry(
    header: EntryHeader,
    payload: Uint8Array,
    encryption?: NativeEncryption,
    fullKey?: Uint8Array,
  ): Uint8Array
  decodeEntry(
    entry: Uint8Array,
    maxValue: number,
    encryption?: NativeEncryption,
    fullKey?: Uint8Array,
    dictionaries?: NativeDictionaries,
  ): { header: EntryHeader; payload: Uint8Array }
}

let loaded: (Native & { readonly calls: Operations }) | undefined

/** Loads the native part at its first use, so that importing the package never fails. */
export function native(): Native & { readonly calls: Operations } {
  if (loaded === undefined) {
    const module = found()
    loaded = { ...module, calls: module.operations() }
  }
  return loaded
}

/** @throws UnsupportedPlatform */
function found(): Native {
  try {
    return load(requireHere()) as Native
  } catch (failure) {
    const { message, cause } = failure as Error
    throw new UnsupportedPlatform(message, { cause })
  }
}

/**
 * What resolves from this file; nothing in CommonJS, which has a `require` anyway. It needs no import: bundles of ES
 * modules often begin with an import of `createRequire`, and a second one would be an error.
 */
function requireHere(): NodeJS.Require | undefined {
  const url = import.meta.url
  return url === undefined
    ? undefined
    : process.getBuiltinModule?.('node:module').createRequire(url)
}

const PLAIN: Record<string, new (message: string, options?: ErrorOptions) => PolycacheError> = {
  invalid_argument: InvalidArgument,
  malformed_entry: MalformedEntry,
  checksum_mismatch: ChecksumMismatch,
  unsupported_version: UnsupportedVersion,
  unsupported_flags: UnsupportedFlags,
  unsupported_serializer: UnsupportedSerializer,
  unsupported_compressor: UnsupportedCompressor,
  unknown_dictionary: UnknownDictionary,
  not_encrypted: NotEncrypted,
  unknown_encryption_key: UnknownEncryptionKey,
  decryption_failed: DecryptionFailed,
  no_space: NoSpace,
  unsupported_filesystem: UnsupportedFilesystem,
  foreign_directory: ForeignDirectory,
  read_only: ReadOnly,
  too_many_participants: TooManyParticipants,
  unsupported_platform: UnsupportedPlatform,
  closed: Closed,
  integer_overflow: IntegerOverflow,
  io: IoError,
  remote_unavailable: RemoteUnavailable,
}

/** The typed error for an error of the native part: code, two numbers and the message, each on a line. */
export function typed(failure: unknown): unknown {
  // Not instanceof: in tests with a context of their own (Jest), the native part's errors are of another class.
  if (!types.isNativeError(failure)) return failure
  const [code, size, limit, ...rest] = failure.message.split('\n')
  const message = rest.join('\n')
  if (code === 'entry_too_large') return new EntryTooLarge(message, Number(size), Number(limit))
  if (code === 'value_too_large') return tooHeavy(Number(size), Number(limit))
  // Of integers, which are whole values.
  if (code === 'unsupported_value') return new UnsupportedValue('$', message)
  if (code === 'wrong_type') return new WrongType('$', message)
  return Object.hasOwn(PLAIN, code) ? new PLAIN[code](message) : failure
}

/**
 * Makes a native call.
 * @throws the typed error of what it throws
 */
export function guarded<R>(call: () => R): R {
  try {
    return call()
  } catch (failure) {
    throw typed(failure)
  }
}
