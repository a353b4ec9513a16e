import type { Duration } from '../duration.ts'
import { checkNames, checkSignal } from '../option-names.ts'
import {
  type Behaviour,
  checkFlag,
  checkSet,
  checkTimes,
  LOAD_POLICY,
  type LoadPolicy,
  loadPolicyOf,
  type MemorySetOptions,
  SET,
} from './options.ts'

/** What a loader of a `MemoryCache` is given. */
export interface MemoryLoaderContext<K, V> {
  readonly key: K
  /** The value that has expired, if it was not freed. */
  readonly stale: V | undefined
  /** The caller's signal, for the loader to hand on. */
  readonly signal: AbortSignal | undefined
  /** The caller's `context`. */
  readonly context: unknown
  /** The options for writing the value. The loader may change them, for a time to live that depends on the value. */
  readonly options: Writing
}

/** How a loaded value is written. */
export interface Writing {
  /** See `MemorySetOptions.ttl`. */
  ttl?: Duration | null
  /** See `MemorySetOptions.timeToIdle`. */
  timeToIdle?: Duration | null
  /** See `MemorySetOptions.size`. */
  size?: number
  /** See `MemorySetOptions.noUpdateTTL`. */
  noUpdateTTL?: boolean
}

/** Loads the value of a missing key. */
export type MemoryLoader<K, V> = (context: MemoryLoaderContext<K, V>) => V | PromiseLike<V>

/** The same, synchronously. */
export type MemorySyncLoader<K, V> = (context: MemoryLoaderContext<K, V>) => V

/** Options of `MemoryCache.getOrSet` and `fetch`; the cache's own by default. */
export interface MemoryLoadOptions<V = unknown> extends MemorySetOptions<V>, LoadPolicy {
  /** Stops the wait, with the signal's reason as the error. Others that wait for the same key go on. Default: none. */
  readonly signal?: AbortSignal
  /** Loads even if there is a value. Default: false. */
  readonly forceRefresh?: boolean
  /** Anything that the loader should know. Default: undefined. */
  readonly context?: unknown
}

/** Options of `MemoryCache.getOrSetSync`. */
export interface MemorySyncLoadOptions<V = unknown> extends MemorySetOptions<V> {
  /** Loads even if there is a value. Default: false. */
  readonly forceRefresh?: boolean
  /** Anything that the loader should know. Default: undefined. */
  readonly context?: unknown
}

/** Options of `MemoryCache.getOrSetManySync`. */
export interface MemorySyncLoadManyOptions {
  /** How long the entries live; `null` for ever. Default: the cache's. */
  readonly ttl?: Duration | null
  /** How long the entries live without being used; `null` for ever. Default: the cache's. */
  readonly timeToIdle?: Duration | null
}

/** Options of `MemoryCache.getOrSetMany`. */
export interface MemoryLoadManyOptions extends MemorySyncLoadManyOptions {
  /** Stops the wait, with the signal's reason as the error. Others that wait for the same keys go on. Default: none. */
  readonly signal?: AbortSignal
}

const LOAD_OPTIONS: ReadonlySet<string> = new Set<keyof MemoryLoadOptions>([
  ...SET,
  ...LOAD_POLICY,
  'signal',
  'forceRefresh',
  'context',
])
const SYNC_LOAD_OPTIONS: ReadonlySet<string> = new Set<keyof MemorySyncLoadOptions>([
  ...SET,
  'forceRefresh',
  'context',
])
const SYNC_LOAD_MANY = ['ttl', 'timeToIdle'] as const
const SYNC_LOAD_MANY_OPTIONS: ReadonlySet<string> = new Set(SYNC_LOAD_MANY)
const LOAD_MANY_OPTIONS: ReadonlySet<string> = new Set<keyof MemoryLoadManyOptions>([
  ...SYNC_LOAD_MANY,
  'signal',
])

/** How a load goes, and how its value is written. */
export interface ResolvedLoad {
  readonly policy: Required<LoadPolicy>
  readonly writing: Writing
}

/** @throws InvalidArgument */
export function loadOf<V>(options: MemoryLoadOptions<V> | undefined, own: Behaviour): ResolvedLoad {
  if (options === undefined) return { policy: own, writing: {} }
  checkNames(options, LOAD_OPTIONS)
  checkFlag(options, 'forceRefresh')
  checkSignal(options.signal)
  return { policy: loadPolicyOf(options, own), writing: writingOf(options) }
}

/** @throws InvalidArgument */
export function syncLoadOf<V>(options: MemorySyncLoadOptions<V> | undefined): Writing {
  if (options === undefined) return {}
  checkNames(options, SYNC_LOAD_OPTIONS)
  checkFlag(options, 'forceRefresh')
  return writingOf(options)
}

function writingOf<V>(options: MemorySetOptions<V>): Writing {
  const writing: Record<string, unknown> = {}
  for (const name of SET) {
    // What a load did with the key is told by `fetch`.
    if (name !== 'status' && options[name] !== undefined) writing[name] = options[name]
  }
  checkSet(writing as MemorySetOptions<V>)
  checkTimes(options)
  return writing as Writing
}

/** @throws InvalidArgument */
export function loadManyOf(options: MemoryLoadManyOptions = {}, sync = false): Writing {
  checkNames(options, sync ? SYNC_LOAD_MANY_OPTIONS : LOAD_MANY_OPTIONS)
  checkSignal(options.signal)
  checkTimes(options)
  const { ttl, timeToIdle } = options
  return { ...(ttl !== undefined && { ttl }), ...(timeToIdle !== undefined && { timeToIdle }) }
}
