import { type Duration, milliseconds } from './duration.ts'
import { SERIALIZER_IDS, type SerializerName } from './entry/serializer.ts'
import { InvalidArgument } from './errors.ts'
import type { Settings } from './host/namespace.ts'
import type { OpenOptions } from './host/native.ts'
import { namespaceParts } from './namespace.ts'
import { bytes } from './size.ts'

/** Options of a `Cache`. */
export interface CacheOptions {
  /** The cache's directory, made when it is missing. Every process that opens it shares the cache. */
  readonly path: string
  /** The namespace of the keys: text is one part, a list is several. None by default. */
  readonly namespace?: string | readonly string[]
  /** How long an entry lives when its write does not say; for ever by default, until it is evicted. */
  readonly ttl?: Duration | null
  /**
   * Byte limit of everything in the directory, `2MiB` to `1TiB`: a number of bytes or text. The existing directory's by
   * default, `256MiB` for a new one.
   */
  readonly limit?: number | string
  /** How values become bytes: `messagepack` (the default, which takes every type), `json`, `text` or `bytes`. */
  readonly serializer?: SerializerName
  /** What makes them fewer: `none` (the default), `zstd`, or `zstd:1` to `zstd:22`. */
  readonly compressor?: string
  /**
   * How long a load may take before another caller may load the same key; `30s` by default. A process that dies gives
   * its loads back at once.
   */
  readonly leaseTimeout?: Duration
  /**
   * Keeps what is whole after a reboot, though it may be older than the last write, or deleted since. By default a reboot
   * empties the cache.
   */
  readonly keepAfterReboot?: boolean
  /** Most bytes of a value that is read, before decompression adds to them; `64MiB` by default. */
  readonly maxValue?: number | string
  /** Milliseconds since 1970, for tests. The system's clock by default. */
  readonly clock?: () => number
}

/** Options of a write. */
export interface SetOptions {
  /** How long the entry lives; the cache's `ttl` by default, `null` for ever. */
  readonly ttl?: Duration | null
}

/** Options of `getOrSet`. */
export interface GetOrSetOptions extends SetOptions {
  /** Stops the wait, with the signal's reason as the error. Others who wait for the same key go on. */
  readonly signal?: AbortSignal
}

const CACHE_OPTIONS: ReadonlySet<string> = new Set<keyof CacheOptions>([
  'path',
  'namespace',
  'ttl',
  'limit',
  'serializer',
  'compressor',
  'leaseTimeout',
  'keepAfterReboot',
  'maxValue',
  'clock',
])
const SET_OPTIONS: ReadonlySet<string> = new Set<keyof SetOptions>(['ttl'])
const GET_OR_SET_OPTIONS: ReadonlySet<string> = new Set<keyof GetOrSetOptions>(['ttl', 'signal'])

/** What a cache's options say, checked. */
export interface Resolved {
  readonly opening: OpenOptions
  readonly parts: string[]
  readonly settings: Settings
  readonly clock: (() => number) | undefined
}

/** @throws InvalidArgument */
export function resolveOptions(options: CacheOptions): Resolved {
  checkNames(options, CACHE_OPTIONS)
  const { path, clock, keepAfterReboot = false, leaseTimeout = '30s' } = options
  if (typeof path !== 'string' || path === '') {
    throw new InvalidArgument('a cache needs a path: the directory it lives in')
  }
  if (clock !== undefined && typeof clock !== 'function') {
    throw new InvalidArgument('clock is a function that returns milliseconds since 1970')
  }
  if (typeof keepAfterReboot !== 'boolean')
    throw new InvalidArgument('keepAfterReboot is true or false')
  const opening: OpenOptions = {
    path,
    leaseTimeout: milliseconds(leaseTimeout, 'leaseTimeout'),
    keepAfterReboot,
    manualClock: clock !== undefined,
  }
  if (options.limit !== undefined) opening.limit = bytes(options.limit, 'limit')
  const settings = {
    serializer: serializerOf(options.serializer ?? 'messagepack'),
    level: levelOf(options.compressor ?? 'none'),
    ttl: options.ttl == null ? 0 : milliseconds(options.ttl, 'ttl'),
    maxValue: bytes(options.maxValue ?? '64MiB', 'maxValue'),
  }
  return { opening, parts: namespaceParts(options.namespace), settings, clock }
}

/**
 * Milliseconds that a write's options ask for, or the cache's own; 0 is for ever.
 * @throws InvalidArgument
 */
export function ttlOf(options: SetOptions | undefined, own: number): number {
  if (options === undefined) return own
  checkNames(options, SET_OPTIONS)
  return ttlIn(options, own)
}

/** Like `ttlOf`, with the signal. */
export function getOrSetOptions(
  options: GetOrSetOptions,
  own: number,
): { ttl: number; signal: AbortSignal | undefined } {
  checkNames(options, GET_OR_SET_OPTIONS)
  const { signal } = options
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidArgument('signal is an AbortSignal')
  }
  return { ttl: ttlIn(options, own), signal }
}

function ttlIn({ ttl }: SetOptions, own: number): number {
  if (ttl === undefined) return own
  return ttl === null ? 0 : milliseconds(ttl, 'ttl')
}

function checkNames(options: object, known: ReadonlySet<string>): void {
  if (typeof options !== 'object' || options === null)
    throw new InvalidArgument('options are an object')
  for (const name of Object.keys(options)) {
    if (known.has(name)) continue
    throw new InvalidArgument(`there is no option ${name}; there are ${[...known].join(', ')}`)
  }
}

function serializerOf(name: SerializerName): SerializerName {
  if (typeof name === 'string' && Object.hasOwn(SERIALIZER_IDS, name)) return name
  throw new InvalidArgument(`${String(name)} is not a serializer: messagepack, json, text or bytes`)
}

/** The zstd level of a compressor's name; 0 is none. */
function levelOf(name: string): number {
  if (name === 'none') return 0
  if (name === 'zstd') return 3
  const level = typeof name === 'string' ? Number(/^zstd:(\d{1,2})$/.exec(name)?.[1]) : Number.NaN
  if (level >= 1 && level <= 22) return level
  throw new InvalidArgument(`${String(name)} is not a compressor: none, zstd, or zstd:1 to zstd:22`)
}
