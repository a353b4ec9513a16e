import { dictionariesOf } from './dictionaries.ts'
import { type Duration, milliseconds } from './duration.ts'
import { type EncryptionKey, encryptionOf } from './encryption.ts'
import { Decimal } from './entry/decimal.ts'
import { type RegisteredTypes, type Types, typesOf } from './entry/registered.ts'
import { SERIALIZER_IDS, type SerializerName } from './entry/serializer.ts'
import { Uuid } from './entry/uuid.ts'
import { InvalidArgument } from './errors.ts'
import { given } from './expiry.ts'
import type { Settings } from './host/namespace.ts'
import type { OpenOptions } from './host/native.ts'
import { Lifetime } from './lifetime.ts'
import {
  idleOrOwn,
  type MemoryOptions,
  type ResolvedMemory,
  resolveTier,
  storeErrorsOf,
  ttlOrOwn,
  waitTimeoutOf,
} from './memory/options.ts'
import { namespaceParts } from './namespace.ts'
import { checkNames, checkSignal } from './option-names.ts'
import type { RemoteDefaults } from './remote/namespace.ts'
import type { RemoteOptions } from './remote/native.ts'
import { resolveRemote } from './remote/options.ts'
import type { RemoteClient, RemoteServer } from './remote/settings.ts'
import { bytes } from './size.ts'
import type { StoreErrors } from './unstored.ts'

/** Options of a `Cache`. */
export interface CacheOptions {
  /**
   * The cache's directory, made when it is missing: the host tier. Every process that opens it shares the cache. Without
   * it the cache is this program's own and has the memory tier alone; then `limit`, `mode`, `serializer`, `compressor`,
   * `dictionaries`, `encryption`, `emptyAtBoot`, `flushEvery`, `maxValue` and `reader` mean nothing and are refused. Default: none.
   */
  readonly path?: string
  /**
   * The Redis or Valkey by which the cache is shared with other machines: its URL, also as `{ url, tls }`, or a client of
   * ioredis or node-redis, or `Bun.redis`, whose settings are taken over. Methods answer asynchronously then. What this machine has read stands in `path`, too, or
   * in this process' memory where there is no path. Default: none.
   */
  readonly remote?: string | RemoteServer | RemoteClient
  /**
   * How long the server may take to answer, 1 ms to 60 s. Then a read is a miss, a loaded value is handed out and not
   * stored, and a write throws `RemoteUnavailable`. Default: 250ms.
   */
  readonly timeout?: Duration
  /**
   * How far a read may be behind writes of other machines when a connection has died in silence, 10 ms to an hour; 0: every
   * read asks the server. Default: 1s.
   */
  readonly maxStaleness?: Duration | 0
  /** What the names of the cache's keys on the server begin with, before a colon. Default: `polycache`. */
  readonly prefix?: string
  /** The namespace of the keys: text is one part, a list is several. Default: none. */
  readonly namespace?: string | readonly string[]
  /**
   * What metrics call the cache and the caches of its nested namespaces (see `polycache/opentelemetry`). Default: the namespace,
   * its parts joined by `::`, or `default`.
   */
  readonly name?: string
  /** How long an entry lives when its write does not say; `null` for ever, until it is evicted. Default: null. */
  readonly ttl?: Duration | null
  /**
   * How long an entry stays without a read, by whatever process: it expires when it was neither read nor written for that
   * long; with `ttl`, too, whichever ends first counts. `peek`, `entry`, `has`, `ttl` and `keys` are no use of it. Over a
   * directory a read prolongs an entry when an eighth of the time has passed, by one write, and an entry lives up to an
   * eighth longer than this, never less. It keeps the time that it was written with. Default: none.
   */
  readonly timeToIdle?: Duration | null
  /**
   * By how much `ttl` is shortened, at random for each write, so that entries which were written together do not expire
   * together: a number from 0 to below 1 is a part of it, else a duration below it. A time to live that a write gives is
   * taken as it is. Default: none.
   */
  readonly jitter?: number | Duration
  /**
   * Byte limit of everything in the directory, `2MiB` to `1TiB`: a number of bytes or text. Default: the existing directory's;
   * 256MiB for a new one.
   */
  readonly limit?: number | string
  /**
   * Permission bits of the cache's files, as of open(2): `0o600` is for this user alone, `0o660` for the users of a group,
   * `0o640` for one user that writes and a group that reads, and `0o664` and `0o644` let every user read. With more than
   * `0o600` the files get the group of `path`, and a cache is used that another user made: one of a group that this process
   * is in or, with `0o664` and `0o644`, of any. The owner's processes change an existing directory's. Default: the existing
   * directory's; 0o600 for a new one.
   */
  readonly mode?: number
  /** How values become bytes: `messagepack` (which takes every type), `json`, `text` or `bytes`. Default: messagepack. */
  readonly serializer?: SerializerName
  /**
   * What makes them fewer: `none`, `smart` (zstd where it is worth it, value by value), `zstd`, or `zstd:1` to `zstd:22`.
   * Default: none.
   */
  readonly compressor?: string
  /**
   * Trained zstd dictionaries for the compressor, `smart` or zstd: with one, values of a few hundred bytes get smaller,
   * too. The first compresses, all of them decompress, so that a new one can take over. `polycache train-dictionary`
   * makes one from samples. An entry whose dictionary is missing here throws `UnknownDictionary`. Default: none.
   */
  readonly dictionaries?: readonly Uint8Array[]
  /**
   * Your own classes whose instances are values, by names that are the same in every language:
   * `{ user: { class: User, encode: ({ id }) => ({ id }), decode: ({ id }) => new User(id) } }`. Every reader gets an
   * object of its own, made by `decode`; a cache that has not registered the name reads a `Named`. Default: none.
   */
  readonly types?: RegisteredTypes
  /**
   * Keys that values are encrypted with, by AES-256-GCM: the first one encrypts, every one of them decrypts, so that keys
   * can be changed. Plain entries are then refused as `NotEncrypted`. Keys of the cache, sizes and times stay readable. One
   * key is good for 2^32 entries. Default: none.
   */
  readonly encryption?: readonly EncryptionKey[]
  /**
   * How old a load may be before a caller stops waiting for it and loads beside it, 63 ms to 8 h. A process that dies gives
   * its loads back at once. Default: 30s.
   */
  readonly leaseTimeout?: Duration
  /** How long a caller waits for the loads of others before it gets `WaitTimeout`, 1 ms to 24 h. Default: 60s. */
  readonly waitTimeout?: Duration
  /**
   * What becomes of a loaded value that cannot be stored: `report` hands it over, counts it and reports the first of each kind
   * as a warning of the process; with `raise` its caller gets the error. Default: report.
   */
  readonly storeErrors?: StoreErrors
  /**
   * Empties the directory when this process is the first to open it since the machine started, and it was never opened
   * without this option. Otherwise the cache is kept. Default: false.
   */
  readonly emptyAtBoot?: boolean
  /**
   * How often what was changed is written to the disk, 100 ms to 24 h, by a thread in the background. A power loss undoes
   * what was changed since, and no more. With `never` it undoes what the kernel had not written by itself (on Linux
   * mostly within half a minute), and what was deleted or cleared in that time may be back. Default: 5s.
   */
  readonly flushEvery?: Duration | 'never'
  /**
   * Most bytes of a value, before compression, that is read or written: a number or text. Each number and text in the value
   * counts for 4 bytes at least, each list, object and other compound value for 16; for these counts the limit is 4 MiB or
   * more. Default: 64MiB.
   */
  readonly maxValue?: number | string
  /**
   * How hits are read: `auto` in the directory's memory itself, where the engine was tested for that (see `spec/host.md`),
   * which takes a third of the time; with `native` by calls of the native part alone, as in any other engine. Then there is
   * no memory tier. Default: auto.
   */
  readonly reader?: 'auto' | 'native'
  /**
   * The memory tier: the values that this process used last, decoded, each served only as long as it is the directory's.
   * `false` for none. Default: 10,000 entries and 64MiB.
   */
  readonly memory?: MemoryOptions | false
  /** Milliseconds since 1970, for tests. Default: the system's clock. */
  readonly clock?: () => number
}

/** When an entry expires, in place of a time to live. */
export interface ExpiryOptions {
  /**
   * When the entry expires, in place of `ttl`. One whose time has passed has expired when it is written: a read is a
   * miss. Default: none.
   */
  readonly expiresAt?: Date
}

/** Options of a write: `ttl` or `expiresAt`, not both. */
export interface SetOptions extends ExpiryOptions {
  /** How long the entry lives; `null` for ever. Default: the cache's. */
  readonly ttl?: Duration | null
}

/** Options of `update`. */
export interface UpdateOptions extends ExpiryOptions {
  /**
   * How long the entry lives from the write on; `null` for ever. Default: an entry keeps its time to live, and a new one
   * has the cache's.
   */
  readonly ttl?: Duration | null
}

/** Options of `increment` and `decrement`. */
export interface IncrementOptions extends ExpiryOptions {
  /** What a key without an entry counts as: a whole number of 64 bits with a sign. Default: 0. */
  readonly initial?: number | bigint
  /** How long a new entry lives; `null` for ever. One that is there keeps its time to live. Default: the cache's. */
  readonly ttl?: Duration | null
}

/** Options of `getOrSet` and `getOrSetMany`. */
export interface GetOrSetOptions extends SetOptions {
  /** Stops the wait, with the signal's reason as the error. Others that wait for the same key go on. Default: none. */
  readonly signal?: AbortSignal
}

const CACHE_OPTIONS: ReadonlySet<string> = new Set<keyof CacheOptions>([
  'path',
  'remote',
  'timeout',
  'maxStaleness',
  'prefix',
  'namespace',
  'name',
  'ttl',
  'timeToIdle',
  'jitter',
  'limit',
  'mode',
  'serializer',
  'compressor',
  'dictionaries',
  'types',
  'encryption',
  'leaseTimeout',
  'waitTimeout',
  'storeErrors',
  'emptyAtBoot',
  'flushEvery',
  'maxValue',
  'reader',
  'memory',
  'clock',
])
const SET_OPTIONS: ReadonlySet<string> = new Set<keyof SetOptions>(['ttl', 'expiresAt'])
const GET_OR_SET_OPTIONS: ReadonlySet<string> = new Set<keyof GetOrSetOptions>([
  'ttl',
  'expiresAt',
  'signal',
])

/** What a lease has room for, in milliseconds (`spec/semantics.md`). */
const SHORTEST_LEASE = 63
const LONGEST_LEASE = 8 * 3_600_000
const SHORTEST_FLUSH = 100
const LONGEST_FLUSH = 24 * 3_600_000

/** What only a directory has a use for, where there is a server, too. */
const DIRECTORY_OPTIONS = ['limit', 'mode', 'emptyAtBoot', 'flushEvery'] as const

/** What only bytes in a directory have a use for. */
const HOST_OPTIONS = [
  'limit',
  'mode',
  'serializer',
  'compressor',
  'dictionaries',
  'encryption',
  'emptyAtBoot',
  'flushEvery',
  'maxValue',
  'reader',
] as const

/** What the options of a cache with a directory say, checked. */
export interface ResolvedHost {
  readonly opening: OpenOptions
  readonly settings: Settings
  readonly memory: ResolvedMemory | undefined
}

/** How callers wait for loads, in milliseconds, and what becomes of a value that cannot be stored. */
export interface WaitingOptions {
  readonly leaseTimeout: number
  readonly waitTimeout: number
  readonly storeErrors: StoreErrors
}

/** What the options of a cache with a server say, checked. */
export interface ResolvedRemote {
  readonly opening: RemoteOptions
  readonly settings: RemoteDefaults
  readonly memory: ResolvedMemory | undefined
}

/** What a cache's options say, checked; `host` and `remote` are absent for one that has the memory tier alone. */
export interface Resolved {
  readonly host: ResolvedHost | undefined
  readonly remote: ResolvedRemote | undefined
  readonly lifetime: Lifetime
  readonly name: string
  readonly waiting: WaitingOptions
  readonly parts: string[]
  readonly memory: MemoryOptions | false
  readonly clock: (() => number) | undefined
  readonly types: Types | undefined
  /** Milliseconds; 0 is none. */
  readonly timeToIdle: number
}

/** @throws InvalidArgument */
export function resolveOptions(options: CacheOptions): Resolved {
  checkNames(options, CACHE_OPTIONS)
  const { path, clock, memory = {} } = options
  if (clock !== undefined && typeof clock !== 'function') {
    throw new InvalidArgument('clock is a function that returns milliseconds since 1970')
  }
  const lifetime = Lifetime.of(ttlOrOwn(options.ttl, 0), options.jitter)
  const timeToIdle = idleOrOwn(options.timeToIdle, 0)
  const leaseTimeout = milliseconds(options.leaseTimeout ?? '30s', 'leaseTimeout')
  if (leaseTimeout < SHORTEST_LEASE || leaseTimeout > LONGEST_LEASE) {
    throw new InvalidArgument('leaseTimeout is from 63ms to 8h')
  }
  const parts = namespaceParts(options.namespace)
  const { name = parts.join('::') || 'default' } = options
  if (typeof name !== 'string') throw new InvalidArgument('name is text')
  const types = typesOf(options.types, [Decimal, Uuid])
  if (memory !== false) resolveTier(memory)
  const waiting = {
    leaseTimeout,
    waitTimeout: waitTimeoutOf(options.waitTimeout),
    storeErrors: storeErrorsOf(options.storeErrors),
  }
  const given = { lifetime, timeToIdle, name, types }
  const server = resolveRemote(options)
  const host = path === undefined ? undefined : resolveHost(path, options, given, leaseTimeout)
  const remote = server && {
    opening: { ...server, ...bytesOf(options, waiting, timeToIdle), ...directoryOf(options, host) },
    settings: { lifetime, name, types, ...formOf(options) },
    memory: memory === false ? undefined : resolveTier(memory),
  }
  if (host === undefined && remote === undefined) checkMemoryOnly(options)
  return { host, remote, lifetime, name, waiting, parts, memory, clock, types, timeToIdle }
}

function formOf(options: CacheOptions): { serializer: SerializerName; maxValue: number } {
  return {
    serializer: serializerOf(options.serializer ?? 'messagepack'),
    maxValue: bytes(options.maxValue ?? '64MiB', 'maxValue'),
  }
}

/** How entries are written where there is a server. */
function bytesOf(
  options: CacheOptions,
  { leaseTimeout, waitTimeout }: WaitingOptions,
  timeToIdle: number,
): Omit<RemoteOptions, 'path' | 'emptyAtBoot'> {
  const { dictionaries, encryption, clock } = options
  const { serializer, maxValue } = formOf(options)
  const level = levelOf(options.compressor ?? 'none')
  // They check what they are given.
  if (dictionaries !== undefined) dictionariesOf(dictionaries, level)
  if (encryption !== undefined) encryptionOf(encryption)
  return {
    leaseTimeout,
    waitTimeout,
    serializer: SERIALIZER_IDS[serializer],
    level,
    maxValue,
    timeToIdle,
    ...(dictionaries && { dictionaries }),
    ...(encryption && { encryption }),
    manualClock: clock !== undefined,
  }
}

/** The directory of a cache with a server, which may have none. */
function directoryOf(
  options: CacheOptions,
  host: ResolvedHost | undefined,
): Pick<RemoteOptions, 'path' | 'limit' | 'mode' | 'emptyAtBoot' | 'flushEvery'> {
  if (host !== undefined) {
    const { path, limit, mode, emptyAtBoot, flushEvery } = host.opening
    return {
      path,
      ...(limit !== undefined && { limit }),
      ...(mode !== undefined && { mode }),
      emptyAtBoot,
      flushEvery,
    }
  }
  for (const name of DIRECTORY_OPTIONS) {
    if (options[name] === undefined) continue
    throw new InvalidArgument(`${name} is of a directory, and means nothing without a path`)
  }
  return { emptyAtBoot: false }
}

function resolveHost(
  path: string,
  options: CacheOptions,
  given: Pick<Settings, 'lifetime' | 'timeToIdle' | 'name' | 'types'>,
  leaseTimeout: number,
): ResolvedHost {
  if (typeof path !== 'string' || path === '') {
    throw new InvalidArgument('path is text: the directory that the cache lives in')
  }
  if (path.includes('\0') || !path.isWellFormed()) {
    throw new InvalidArgument(
      'path holds a NUL, or half a surrogate pair: no directory has such a name',
    )
  }
  const { clock, emptyAtBoot = false, memory = {}, mode, reader = 'auto' } = options
  if (mode !== undefined && !(Number.isInteger(mode) && mode >= 0 && mode <= 0o7777)) {
    throw new InvalidArgument('mode is a number like 0o660')
  }
  if (typeof emptyAtBoot !== 'boolean') throw new InvalidArgument('emptyAtBoot is true or false')
  if (reader !== 'auto' && reader !== 'native') {
    throw new InvalidArgument(`reader is ${String(reader)}: write auto or native`)
  }
  const opening: OpenOptions = {
    path,
    leaseTimeout,
    emptyAtBoot,
    flushEvery: flushEveryOf(options.flushEvery ?? '5s'),
    manualClock: clock !== undefined,
    unmapped: reader === 'native',
  }
  if (mode !== undefined) opening.mode = mode
  if (options.limit !== undefined) opening.limit = bytes(options.limit, 'limit')
  const level = levelOf(options.compressor ?? 'none')
  const { dictionaries, encryption } = options
  const settings = {
    serializer: serializerOf(options.serializer ?? 'messagepack'),
    level,
    ...given,
    maxValue: bytes(options.maxValue ?? '64MiB', 'maxValue'),
    encryption: encryption === undefined ? undefined : encryptionOf(encryption),
    dictionaries: dictionaries === undefined ? undefined : dictionariesOf(dictionaries, level),
  }
  return { opening, settings, memory: memory === false ? undefined : resolveTier(memory) }
}

/** Milliseconds; 0 for never. */
function flushEveryOf(every: Duration | 'never'): number {
  if (every === 'never') return 0
  const ms = milliseconds(every, 'flushEvery')
  if (ms < SHORTEST_FLUSH || ms > LONGEST_FLUSH) {
    throw new InvalidArgument('flushEvery is from 100ms to 24h, or never')
  }
  return ms
}

function checkMemoryOnly(options: CacheOptions): void {
  if (options.memory === false) {
    throw new InvalidArgument('without memory a cache needs a path: the directory it lives in')
  }
  for (const name of HOST_OPTIONS) {
    if (options[name] === undefined) continue
    throw new InvalidArgument(`${name} means nothing without a path: nothing becomes bytes`)
  }
}

/**
 * What a write's options ask for, or the cache's own time to live: see `given` in `expiry.ts`.
 * @throws InvalidArgument
 */
export function ttlOf(options: SetOptions | undefined, own: Lifetime): number {
  if (options === undefined) return own.next()
  return givenTtl(options) ?? own.next()
}

/**
 * What a write's options ask for; undefined for nothing.
 * @throws InvalidArgument
 */
export function givenTtl(options: SetOptions | undefined): number | undefined {
  if (options === undefined) return undefined
  checkNames(options, SET_OPTIONS)
  return given(options)
}

/** What `touch` was given, or the cache's own. */
export function ttlFrom(ttl: Duration | null | ExpiryOptions | undefined, own: Lifetime): number {
  if (ttl === undefined) return own.next()
  if (typeof ttl !== 'object' || ttl === null || !('expiresAt' in ttl)) {
    return ttlOrOwn(ttl as Duration | null, 0)
  }
  return ttlOf(ttl, own)
}

/**
 * The time to live, undefined for the cache's own, and the signal.
 * @throws InvalidArgument
 */
export function getOrSetOptions(options: GetOrSetOptions): {
  ttl: number | undefined
  signal: AbortSignal | undefined
} {
  checkNames(options, GET_OR_SET_OPTIONS)
  const { signal } = options
  checkSignal(signal)
  return { ttl: given(options), signal }
}

function serializerOf(name: SerializerName): SerializerName {
  if (typeof name === 'string' && Object.hasOwn(SERIALIZER_IDS, name)) return name
  throw new InvalidArgument(`${String(name)} is not a serializer: messagepack, json, text or bytes`)
}

/** The zstd level of a compressor's name; 0 is none, -1 smart. */
function levelOf(name: string): number {
  if (name === 'none') return 0
  if (name === 'smart') return -1
  if (name === 'zstd') return 3
  const level = typeof name === 'string' ? Number(/^zstd:(\d{1,2})$/.exec(name)?.[1]) : Number.NaN
  if (level >= 1 && level <= 22) return level
  throw new InvalidArgument(
    `${String(name)} is not a compressor: none, smart, zstd, or zstd:1 to zstd:22`,
  )
}
