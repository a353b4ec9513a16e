import { type Duration, milliseconds } from '../duration.ts'
import type { RegisteredTypes } from '../entry/registered.ts'
import { InvalidArgument } from '../errors.ts'
import { checkNames } from '../option-names.ts'
import { bytes } from '../size.ts'
import type { StoreErrors } from '../unstored.ts'
import type { RemovalCause } from './events.ts'
import type { MemoryLoader } from './load-options.ts'
import { Lru } from './lru.ts'
import type { Bounds, PolicyMaker } from './policy.ts'
import type { CloneInstance } from './stored.ts'
import { TwoQueueClock } from './two-queue-clock.ts'
import { Unevicted } from './unevicted.ts'

/** How entries are protected from changes of objects: `MemoryOptions.isolation`. */
export type Isolation = 'clone' | 'freeze' | 'none'

/** Which entry goes when there is no room: `MemoryOptions.policy`. */
export type PolicyName = '2q-clock' | 'lru' | 'none'

/** Options that bound entries in memory, and choose what is handed out. */
export interface MemoryOptions {
  /** Most entries, a whole number from 1 to 16,777,216. Default: 10,000. */
  readonly maxEntries?: number
  /**
   * Most bytes that keys and values weigh together, by an estimate: a number, or text like `'64MiB'`. With `null` nothing is
   * weighed. Default: 64MiB.
   */
  readonly maxBytes?: number | string | null
  /**
   * `2q-clock` is explained in `spec/eviction.md`; `lru` evicts exactly the entry that was used longest ago; with
   * `none`, for a `MemoryCache` only, nothing is evicted, and a new key without room is `NoSpace`. Default: 2q-clock.
   */
  readonly policy?: PolicyName
  /**
   * - `clone`: what is stored is a copy, and so is what is handed out, each time.
   * - `freeze`: what is stored is a copy, frozen to its depth, and is itself handed out.
   * - `none`: what is stored is what is handed out, whatever it is.
   *
   * Default: clone.
   */
  readonly isolation?: Isolation
  /**
   * Copies an object that `clone` and `freeze` refuse: an instance of a class of your own. It is given the object and
   * returns one that shares nothing with it, or undefined for one that it does not know. Default: none.
   */
  readonly cloneInstance?: CloneInstance
}

/** What happens to an expired value; lru-cache's words. */
export interface StaleOptions {
  /**
   * Reads return an expired value once, if it was not freed; `getOrSet` returns it while a loader makes a new one.
   * Default: false.
   */
  readonly allowStale?: boolean
  /** A read leaves an expired value in the cache. Default: false. */
  readonly noDeleteOnStaleGet?: boolean
}

/** What a load does with an expired value that was not freed. */
export interface LoadPolicy extends StaleOptions {
  /** When the loader fails, the expired value is returned instead of its error, and stays. Default: false. */
  readonly allowStaleOnFetchRejection?: boolean
  /** When the signal is aborted, the expired value is returned instead of its reason. Default: false. */
  readonly allowStaleOnFetchAbort?: boolean
  /** A loader that fails leaves the expired value there. Default: false. */
  readonly noDeleteOnFetchRejection?: boolean
  /** An aborted signal does not stop the load: its value is stored, and waiting callers get it. Default: false. */
  readonly ignoreFetchAbort?: boolean
}

/** Options of a `MemoryCache`. */
export interface MemoryCacheOptions<K = unknown, V = unknown> extends MemoryOptions, LoadPolicy {
  /**
   * Classes of your own that `clone` and `freeze` would refuse, by names: instances are kept as what `encode` makes of
   * them, and each reader gets one made by `decode`. `none` hands out the instances themselves. Default: none.
   */
  readonly types?: RegisteredTypes
  /** How long an entry lives if its write does not say; `null` for ever, until it is evicted. Default: null. */
  readonly ttl?: Duration | null
  /**
   * How long an entry lives without being used, if its write does not say; `null` for ever. With a `ttl` too, whichever
   * comes first. `get`, `touch` and `set` are uses; `peek`, `has`, `ttl`, `entry` and iteration are not. Default: null.
   */
  readonly timeToIdle?: Duration | null
  /** Whether `has` is a use: it begins the time to idle again, or else the time to live. Default: false. */
  readonly updateAgeOnHas?: boolean
  /** Whether an entry that is set again keeps its time to live. Default: false. */
  readonly noUpdateTTL?: boolean
  /** Bytes that a key and its value weigh, a whole number. Default: an estimate of what they take. */
  readonly weigher?: (key: K, value: V) => number
  /** Most bytes of one entry; a heavier one is `EntryTooLarge`. Default: maxBytes. */
  readonly maxEntrySize?: number | string
  /**
   * Called with each value that left the cache and the cause, after the operation is done: also when another value took its
   * place, or the cache was cleared. It may use the cache; what it throws is reported by `process.emitWarning`, and fails no
   * operation. Default: none.
   */
  readonly removalListener?: (key: K, value: V, cause: RemovalCause) => void
  /** What `fetch` loads with. Default: none. */
  readonly loader?: MemoryLoader<K, V>
  /** How old a load may be before a caller stops waiting for it and loads beside it. Default: 30s. */
  readonly leaseTimeout?: Duration
  /** How long a caller waits for the loads of others before it gets `WaitTimeout`, 1 ms to 24 h. Default: 60s. */
  readonly waitTimeout?: Duration
  /**
   * What happens to a loaded value that cannot be stored: `report` hands it over, counts it and reports the first of
   * each kind as a warning of the process; `raise` throws the error. Default: report.
   */
  readonly storeErrors?: StoreErrors
  /**
   * Whether expired entries are freed automatically. With false, the event `expired` reports each, and it stays until
   * it is deleted, evicted or purged: for `entry`, for `allowStale`. Default: true.
   */
  readonly deleteOnExpire?: boolean
  /** The least time between checks for expired entries; `null` for never: only reads free them. Default: 1s. */
  readonly checkPeriod?: Duration | null
  /**
   * Returns milliseconds since 1970; called at each use. The system's clock is read once for many reads, at least every
   * millisecond that the event loop turns. Default: the system's.
   */
  readonly clock?: () => number
}

/** What an operation did: an object of the caller, which it fills. */
export interface MemoryStatus<V = unknown> {
  get?: 'hit' | 'stale' | 'miss'
  has?: 'hit' | 'stale' | 'miss'
  /** `update` is the same value again. */
  set?: 'add' | 'update' | 'replace'
  /** `inflight`: waited for another caller's load; `stale`: loads while the caller has the expired value. */
  fetch?: 'hit' | 'miss' | 'inflight' | 'stale' | 'refresh'
  /** Milliseconds that the entry has left, `Infinity` when it does not expire; below 0 once it has expired. */
  ttl?: number
  /** Whether the value had expired. */
  returnedStale?: boolean
  /** The value that was replaced. */
  oldValue?: V
  /** The error of a load whose caller was given the expired value. */
  fetchError?: unknown
}

/** Options of a write to a `MemoryCache`. */
export interface MemorySetOptions<V = unknown> {
  /** How long the entry lives; `null` for ever. Default: the cache's. */
  readonly ttl?: Duration | null
  /** How long the entry lives without being used; `null` for ever. Default: the cache's. */
  readonly timeToIdle?: Duration | null
  /** Bytes that it weighs. Default: the weigher's result. */
  readonly size?: number
  /** Whether an existing entry keeps its time to live. Default: the cache's. */
  readonly noUpdateTTL?: boolean
  /** An object that is told what was done. Default: none. */
  readonly status?: MemoryStatus<V>
}

/** Options of a read of a `MemoryCache`; the cache's own by default. */
export interface MemoryGetOptions<V = unknown> extends StaleOptions {
  /** An object that is told what was found. Default: none. */
  readonly status?: MemoryStatus<V>
}

/** Options of `MemoryCache.has`. */
export interface MemoryHasOptions<V = unknown> {
  /** See `MemoryCacheOptions.updateAgeOnHas`. Default: the cache's. */
  readonly updateAgeOnHas?: boolean
  /** An object that is told what was found. Default: none. */
  readonly status?: MemoryStatus<V>
}

const MEMORY_OPTIONS: readonly (keyof MemoryOptions)[] = [
  'maxEntries',
  'maxBytes',
  'policy',
  'isolation',
  'cloneInstance',
]
export const LOAD_POLICY = [
  'allowStale',
  'noDeleteOnStaleGet',
  'allowStaleOnFetchRejection',
  'allowStaleOnFetchAbort',
  'noDeleteOnFetchRejection',
  'ignoreFetchAbort',
] as const
const MEMORY_CACHE_OPTIONS: ReadonlySet<string> = new Set<keyof MemoryCacheOptions>([
  ...MEMORY_OPTIONS,
  'types',
  'ttl',
  'timeToIdle',
  'weigher',
  'clock',
  'updateAgeOnHas',
  'noUpdateTTL',
  'maxEntrySize',
  'removalListener',
  'loader',
  'leaseTimeout',
  'waitTimeout',
  'storeErrors',
  'deleteOnExpire',
  'checkPeriod',
  ...LOAD_POLICY,
])
const TIER_OPTIONS: ReadonlySet<string> = new Set(MEMORY_OPTIONS)
export const SET = ['ttl', 'timeToIdle', 'size', 'noUpdateTTL', 'status'] as const
const SET_OPTIONS: ReadonlySet<string> = new Set(SET)
const GET_OPTIONS: ReadonlySet<string> = new Set<keyof MemoryGetOptions>([
  'allowStale',
  'noDeleteOnStaleGet',
  'status',
])
const HAS_OPTIONS: ReadonlySet<string> = new Set<keyof MemoryHasOptions>([
  'updateAgeOnHas',
  'status',
])
/** What a Map takes in V8. */
const MOST_ENTRIES = 2 ** 24

/** The checked options of entries in memory. */
export interface ResolvedMemory {
  readonly bounds: Bounds
  readonly policy: PolicyMaker
  readonly isolation: Isolation
  readonly cloneInstance: CloneInstance | undefined
}

/** @throws InvalidArgument */
export function resolveMemory(options: MemoryOptions): ResolvedMemory {
  const { maxEntries = 10_000, maxBytes = '64MiB', policy = '2q-clock', cloneInstance } = options
  const { isolation = 'clone' } = options
  if (!Number.isInteger(maxEntries) || maxEntries < 1 || maxEntries > MOST_ENTRIES) {
    throw new InvalidArgument(
      `maxEntries is ${String(maxEntries)}: write a whole number from 1 to ${MOST_ENTRIES}`,
    )
  }
  const most = maxBytes === null ? Number.POSITIVE_INFINITY : bytes(maxBytes, 'maxBytes')
  if (most === 0) throw new InvalidArgument('maxBytes is 0: nothing would ever be stored')
  if (isolation !== 'clone' && isolation !== 'freeze' && isolation !== 'none') {
    throw new InvalidArgument(`isolation is ${String(isolation)}: write clone, freeze or none`)
  }
  checkFunction(cloneInstance, 'cloneInstance')
  const bounds = { maxEntries, maxBytes: most }
  return { bounds, policy: policyOf(policy), isolation, cloneInstance }
}

function policyOf(name: PolicyName): PolicyMaker {
  if (name === '2q-clock') return (slots, leave) => new TwoQueueClock(slots, leave)
  if (name === 'lru') return (slots, leave) => new Lru(slots, leave)
  if (name === 'none') return (slots, leave) => new Unevicted(slots, leave)
  throw new InvalidArgument(`${String(name)} is not a policy: 2q-clock, lru or none`)
}

/**
 * The options of a cache's memory tier.
 * @throws InvalidArgument
 */
export function resolveTier(options: MemoryOptions): ResolvedMemory {
  checkNames(options, TIER_OPTIONS)
  if (options.policy === 'none') {
    throw new InvalidArgument('the policy none is for a MemoryCache alone: 2q-clock or lru')
  }
  return resolveMemory(options)
}

/** The checked further options of a `MemoryCache`. */
export interface Behaviour extends Required<LoadPolicy> {
  readonly noUpdateTTL: boolean
  readonly updateAgeOnHas: boolean
  readonly deleteOnExpire: boolean
  /** Whether expired values may be asked for. */
  readonly keepsStale: boolean
  /** Whether a key without room is refused. */
  readonly refuses: boolean
  /** Bytes. */
  readonly maxEntrySize: number
  /** Milliseconds; infinite for never. */
  readonly checkPeriod: number
  readonly leaseTimeout: number
  readonly waitTimeout: number
  readonly storeErrors: StoreErrors
}

/** @throws InvalidArgument */
export function behaviourOf<K, V>(options: MemoryCacheOptions<K, V>): Behaviour {
  checkNames(options, MEMORY_CACHE_OPTIONS)
  for (const name of ['weigher', 'clock', 'removalListener', 'loader'] as const) {
    checkFunction(options[name], name)
  }
  for (const name of FLAGS) checkFlag(options, name)
  const policy = loadPolicyOf(options, {} as Behaviour)
  const { checkPeriod = '1s', deleteOnExpire = true, maxEntrySize } = options
  return {
    ...policy,
    noUpdateTTL: options.noUpdateTTL ?? false,
    updateAgeOnHas: options.updateAgeOnHas ?? false,
    deleteOnExpire,
    keepsStale:
      !deleteOnExpire ||
      policy.allowStale ||
      policy.noDeleteOnStaleGet ||
      policy.allowStaleOnFetchRejection ||
      policy.allowStaleOnFetchAbort,
    refuses: options.policy === 'none',
    maxEntrySize:
      maxEntrySize === undefined ? Number.POSITIVE_INFINITY : bytes(maxEntrySize, 'maxEntrySize'),
    checkPeriod:
      checkPeriod === null ? Number.POSITIVE_INFINITY : milliseconds(checkPeriod, 'checkPeriod'),
    leaseTimeout: milliseconds(options.leaseTimeout ?? '30s', 'leaseTimeout'),
    waitTimeout: waitTimeoutOf(options.waitTimeout),
    storeErrors: storeErrorsOf(options.storeErrors),
  }
}

/** A day: the longest wait. */
const LONGEST_WAIT = 86_400_000

/** @throws InvalidArgument */
export function waitTimeoutOf(given: Duration = '60s'): number {
  const ms = milliseconds(given, 'waitTimeout')
  if (ms > LONGEST_WAIT) throw new InvalidArgument('waitTimeout is from 1ms to 24h')
  return ms
}

/** @throws InvalidArgument */
export function storeErrorsOf(given: StoreErrors = 'report'): StoreErrors {
  if (given === 'report' || given === 'raise') return given
  throw new InvalidArgument(`storeErrors is ${String(given)}: write report or raise`)
}

const FLAGS = ['updateAgeOnHas', 'noUpdateTTL', 'deleteOnExpire'] as const

/** @throws InvalidArgument */
export function loadPolicyOf(options: LoadPolicy, own: LoadPolicy): Required<LoadPolicy> {
  const policy = {} as Record<(typeof LOAD_POLICY)[number], boolean>
  for (const name of LOAD_POLICY) {
    checkFlag(options, name)
    policy[name] = options[name] ?? own[name] ?? false
  }
  return policy
}

/**
 * Milliseconds that a write's options ask for, or the cache's own; 0 is for ever.
 * @throws InvalidArgument
 */
export function ttlOrOwn(ttl: Duration | null | undefined, own: number): number {
  if (ttl === undefined) return own
  return ttl === null ? 0 : milliseconds(ttl, 'ttl')
}

/**
 * Like `ttlOrOwn`, for a time to idle.
 * @throws InvalidArgument
 */
export function idleOrOwn(idle: Duration | null | undefined, own: number): number {
  if (idle === undefined) return own
  return idle === null ? 0 : milliseconds(idle, 'timeToIdle')
}

/** @throws InvalidArgument */
export function checkSet<V>(options: MemorySetOptions<V>): void {
  checkNames(options, SET_OPTIONS)
  checkFlag(options, 'noUpdateTTL')
  const { size } = options
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 0)) {
    throw new InvalidArgument(`size is ${String(size)}: write whole bytes, from 0 on`)
  }
}

/** @throws InvalidArgument */
export function checkGet<V>(options: MemoryGetOptions<V>): void {
  checkNames(options, GET_OPTIONS)
  checkFlag(options, 'allowStale')
  checkFlag(options, 'noDeleteOnStaleGet')
}

/** @throws InvalidArgument */
export function checkHas<V>(options: MemoryHasOptions<V>): void {
  checkNames(options, HAS_OPTIONS)
  checkFlag(options, 'updateAgeOnHas')
}

/** @throws InvalidArgument */
export function checkTimes({ ttl, timeToIdle }: MemorySetOptions): void {
  ttlOrOwn(ttl, 0)
  idleOrOwn(timeToIdle, 0)
}

function checkFunction(given: unknown, name: string): void {
  if (given !== undefined && typeof given !== 'function') {
    throw new InvalidArgument(`${name} is a function, not ${typeof given}`)
  }
}

/** @throws InvalidArgument */
export function checkFlag<N extends string>(
  options: { readonly [name in N]?: unknown },
  name: N,
): void {
  const given = options[name]
  if (given !== undefined && typeof given !== 'boolean') {
    throw new InvalidArgument(`${name} is true or false`)
  }
}
