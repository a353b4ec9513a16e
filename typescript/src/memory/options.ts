import { type Duration, milliseconds } from '../duration.ts'
import type { RegisteredTypes } from '../entry/registered.ts'
import { InvalidArgument } from '../errors.ts'
import { checkNames } from '../option-names.ts'
import { bytes } from '../size.ts'
import type { StoreErrors } from '../unstored.ts'
import { Lru } from './lru.ts'
import type { Bounds, PolicyMaker } from './policy.ts'
import type { CloneInstance } from './stored.ts'
import { TwoQueueClock } from './two-queue-clock.ts'
import { Unevicted } from './unevicted.ts'

/** What keeps a change of an object from being a change of the cache's entry: `MemoryOptions.isolation`. */
export type Isolation = 'clone' | 'freeze' | 'none'

/** Which entry goes when there is no room: `MemoryOptions.policy`. */
export type PolicyName = '2q-clock' | 'lru' | 'none'

/** What bounds entries in memory, and what is handed out of them. */
export interface MemoryOptions {
  /** Most entries; 10,000 by default. */
  readonly maxEntries?: number
  /**
   * Most bytes that keys and values weigh together, by an estimate: a number, or text like `'64MiB'`, the default. With
   * `null` nothing is weighed.
   */
  readonly maxBytes?: number | string | null
  /**
   * `2q-clock`, the default, is explained in `spec/eviction.md`; `lru` evicts exactly what was used longest ago; with `none`,
   * which is for a `MemoryCache` alone, nothing is evicted, and a new key for which there is no room is `NoSpace`.
   */
  readonly policy?: PolicyName
  /**
   * - `clone`, the default: what is stored is a copy, and so is what is handed out, each time.
   * - `freeze`: what is stored is a copy, frozen to its depth, and is itself handed out.
   * - `none`: what is stored is what is handed out, whatever it is.
   */
  readonly isolation?: Isolation
  /**
   * Copies an object that `clone` and `freeze` refuse: an instance of a class of one's own. It is given the object and
   * returns one that shares nothing with it, or undefined for one that it does not know.
   */
  readonly cloneInstance?: CloneInstance
}

/** Why a value left a `MemoryCache`: `fetch` is a load that failed, and took the expired value along. */
export type DisposeReason = 'set' | 'delete' | 'evict' | 'expire' | 'fetch'

/** What is done with a value that has expired; lru-cache's words. All are false by default. */
export interface StaleOptions {
  /** Reads give what has expired, once, as long as it was not freed; `getOrSet` gives it while a loader makes it anew. */
  readonly allowStale?: boolean
  /** A read that finds what has expired leaves it there. */
  readonly noDeleteOnStaleGet?: boolean
}

/** What a load does with the value that was there before, when it has expired and was not freed. False by default. */
export interface LoadPolicy extends StaleOptions {
  /** When the loader fails the expired value is given instead of its error, and stays. */
  readonly allowStaleOnFetchRejection?: boolean
  /** When the signal is aborted the expired value is given instead of its reason. */
  readonly allowStaleOnFetchAbort?: boolean
  /** A loader that fails leaves the expired value there. */
  readonly noDeleteOnFetchRejection?: boolean
  /** A signal that is aborted does not stop the load: its value is stored, and callers that wait get it. */
  readonly ignoreFetchAbort?: boolean
}

/** What a loader of a `MemoryCache` is given. */
export interface MemoryLoaderContext<K, V> {
  readonly key: K
  /** The value that has expired, if it was not freed. */
  readonly stale: V | undefined
  /** The caller's signal, for the loader to hand on. */
  readonly signal: AbortSignal | undefined
  /** The caller's `context`. */
  readonly context: unknown
  /** What the value will be written with. The loader may change it: a time to live that depends on what it got. */
  readonly options: Writing
}

/** How a loaded value is written. */
export interface Writing {
  ttl?: Duration | null
  sliding?: boolean
  size?: number
  noUpdateTTL?: boolean
}

/** What makes the value of a key that is not there. */
export type MemoryLoader<K, V> = (context: MemoryLoaderContext<K, V>) => V | PromiseLike<V>

/** Options of a `MemoryCache`. */
export interface MemoryCacheOptions<K = unknown, V = unknown> extends MemoryOptions, LoadPolicy {
  /**
   * Classes of one's own that `clone` and `freeze` would refuse, by names: instances are kept as what `encode` makes of
   * them, and each reader gets one made by `decode`. `none` hands out the instances themselves.
   */
  readonly types?: RegisteredTypes
  /** How long an entry lives when its write does not say; for ever by default, until it is evicted. */
  readonly ttl?: Duration | null
  /** Whether reading an entry sets its time to live anew; false by default. */
  readonly sliding?: boolean
  /** Whether `has` does; false by default. */
  readonly updateAgeOnHas?: boolean
  /** Whether an entry that is set again keeps its expiry; false by default. */
  readonly noUpdateTTL?: boolean
  /** Bytes that a key and its value weigh, a whole number; an estimate of what they take by default. */
  readonly weigher?: (value: V, key: K) => number
  /** Most bytes of one entry; `maxBytes` by default. A heavier one is `EntryTooLarge`. */
  readonly maxEntrySize?: number | string
  /**
   * Called with each value that leaves the cache, also when another takes its place or the cache is cleared, after the
   * operation is done. It may use the cache; what it throws, the caller of the operation gets.
   */
  readonly dispose?: (value: V, key: K, reason: DisposeReason) => void
  /** Like `dispose`, and called after it. */
  readonly disposeAfter?: (value: V, key: K, reason: DisposeReason) => void
  /** Whether `dispose` hears nothing of values in whose place others were set; false by default. */
  readonly noDisposeOnSet?: boolean
  /** What `fetch` loads with. */
  readonly loader?: MemoryLoader<K, V>
  /** How old a load may be before a caller stops waiting for it and loads beside it; `30s` by default. */
  readonly leaseTimeout?: Duration
  /** How long a caller waits for the loads of others before it gets `WaitTimeout`, 1 ms to 24 h; `60s` by default. */
  readonly waitTimeout?: Duration
  /**
   * What becomes of a loaded value that cannot be stored: `report` (the default) hands it over, counts it and reports the
   * first of each kind as a warning of the process; with `raise` its caller gets the error.
   */
  readonly storeErrors?: StoreErrors
  /**
   * Whether what has expired is freed by itself; true by default. With false it is told of by `expire`, and stays until it is
   * deleted, evicted or purged: for `entry`, for `allowStale`.
   */
  readonly deleteOnExpire?: boolean
  /** The least time between two looks for what has expired; `1s` by default, `null` for never: then only reads free it. */
  readonly checkPeriod?: Duration | null
  /**
   * Milliseconds since 1970, asked at each use. By default the system's clock, which is asked once for many reads, at
   * least every millisecond that the event loop turns.
   */
  readonly clock?: () => number
}

/** What an operation did: an object of the caller's that it writes into. */
export interface MemoryStatus<V = unknown> {
  get?: 'hit' | 'stale' | 'miss'
  has?: 'hit' | 'stale' | 'miss'
  /** `update` is the same value once more. */
  set?: 'add' | 'update' | 'replace'
  /** `inflight` waited for another caller's load; `stale` loads while the caller has the expired value. */
  fetch?: 'hit' | 'miss' | 'inflight' | 'stale' | 'refresh'
  /** Milliseconds that the entry has left, `Infinity` when it does not expire; below 0 once it has expired. */
  ttl?: number
  /** Whether the value had expired. */
  returnedStale?: boolean
  /** The value that was replaced. */
  oldValue?: V
  /** What a load failed with whose caller was given the expired value. */
  fetchError?: unknown
}

/** Options of a write to a `MemoryCache`. */
export interface MemorySetOptions<V = unknown> {
  /** How long the entry lives; the cache's `ttl` by default, `null` for ever. */
  readonly ttl?: Duration | null
  /** Whether reading sets the time to live anew; the cache's `sliding` by default. */
  readonly sliding?: boolean
  /** Bytes that it weighs; by default what the weigher says. */
  readonly size?: number
  /** Whether an entry that is there keeps its expiry; the cache's by default. */
  readonly noUpdateTTL?: boolean
  readonly status?: MemoryStatus<V>
}

/** Options of a read of a `MemoryCache`; the cache's own by default. */
export interface MemoryGetOptions<V = unknown> extends StaleOptions {
  /** Whether this read sets the entry's time to live anew. */
  readonly sliding?: boolean
  readonly status?: MemoryStatus<V>
}

/** Options of `MemoryCache.has`. */
export interface MemoryHasOptions<V = unknown> {
  readonly updateAgeOnHas?: boolean
  readonly status?: MemoryStatus<V>
}

/** Options of `MemoryCache.getOrSet`, `fetch` and `memo`; the cache's own by default. */
export interface MemoryLoadOptions<V = unknown> extends MemorySetOptions<V>, LoadPolicy {
  /** Stops the wait, with the signal's reason as the error. Others who wait for the same key go on. */
  readonly signal?: AbortSignal
  /** Loads though there is a value. */
  readonly forceRefresh?: boolean
  /** Anything that the loader should know. */
  readonly context?: unknown
}

const MEMORY_OPTIONS: readonly (keyof MemoryOptions)[] = [
  'maxEntries',
  'maxBytes',
  'policy',
  'isolation',
  'cloneInstance',
]
const LOAD_POLICY = [
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
  'sliding',
  'weigher',
  'clock',
  'updateAgeOnHas',
  'noUpdateTTL',
  'maxEntrySize',
  'dispose',
  'disposeAfter',
  'noDisposeOnSet',
  'loader',
  'leaseTimeout',
  'waitTimeout',
  'storeErrors',
  'deleteOnExpire',
  'checkPeriod',
  ...LOAD_POLICY,
])
const TIER_OPTIONS: ReadonlySet<string> = new Set(MEMORY_OPTIONS)
const SET = ['ttl', 'sliding', 'size', 'noUpdateTTL', 'status'] as const
const SET_OPTIONS: ReadonlySet<string> = new Set(SET)
const GET_OPTIONS: ReadonlySet<string> = new Set<keyof MemoryGetOptions>([
  'allowStale',
  'noDeleteOnStaleGet',
  'sliding',
  'status',
])
const HAS_OPTIONS: ReadonlySet<string> = new Set<keyof MemoryHasOptions>([
  'updateAgeOnHas',
  'status',
])
const LOAD_OPTIONS: ReadonlySet<string> = new Set<keyof MemoryLoadOptions>([
  ...SET,
  ...LOAD_POLICY,
  'signal',
  'forceRefresh',
  'context',
])

/** What a Map takes in V8. */
const MOST_ENTRIES = 2 ** 24

/** What the options of entries in memory say, checked. */
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

/** What a `MemoryCache` does beside keeping entries within bounds, checked. */
export interface Behaviour extends Required<LoadPolicy> {
  readonly noUpdateTTL: boolean
  readonly updateAgeOnHas: boolean
  readonly noDisposeOnSet: boolean
  readonly deleteOnExpire: boolean
  /** Whether what has expired may be asked for. */
  readonly keepsStale: boolean
  /** Whether a key for which there is no room is refused. */
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
  for (const name of ['weigher', 'clock', 'dispose', 'disposeAfter', 'loader'] as const) {
    checkFunction(options[name], name)
  }
  for (const name of FLAGS) checkFlag(options, name)
  const policy = loadPolicyOf(options, {} as Behaviour)
  const { checkPeriod = '1s', deleteOnExpire = true, maxEntrySize } = options
  return {
    ...policy,
    noUpdateTTL: options.noUpdateTTL ?? false,
    updateAgeOnHas: options.updateAgeOnHas ?? false,
    noDisposeOnSet: options.noDisposeOnSet ?? false,
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

/** A day: the longest that anybody waits. */
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

const FLAGS = [
  'sliding',
  'updateAgeOnHas',
  'noUpdateTTL',
  'noDisposeOnSet',
  'deleteOnExpire',
] as const

function loadPolicyOf(options: LoadPolicy, own: LoadPolicy): Required<LoadPolicy> {
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

/** @throws InvalidArgument */
export function checkSet<V>(options: MemorySetOptions<V>): void {
  checkNames(options, SET_OPTIONS)
  checkFlag(options, 'sliding')
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
  checkFlag(options, 'sliding')
}

/** @throws InvalidArgument */
export function checkHas<V>(options: MemoryHasOptions<V>): void {
  checkNames(options, HAS_OPTIONS)
  checkFlag(options, 'updateAgeOnHas')
}

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
  const { signal } = options
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidArgument('signal is an AbortSignal')
  }
  const writing: Record<string, unknown> = {}
  for (const name of SET) {
    // What a load did with the key is told by `fetch`.
    if (name !== 'status' && options[name] !== undefined) writing[name] = options[name]
  }
  checkSet(writing as MemorySetOptions<V>)
  ttlOrOwn(options.ttl, 0)
  return { policy: loadPolicyOf(options, own), writing: writing as Writing }
}

function checkFunction(given: unknown, name: string): void {
  if (given !== undefined && typeof given !== 'function') {
    throw new InvalidArgument(`${name} is a function, not ${typeof given}`)
  }
}

function checkFlag<N extends string>(options: { readonly [name in N]?: unknown }, name: N): void {
  const given = options[name]
  if (given !== undefined && typeof given !== 'boolean') {
    throw new InvalidArgument(`${name} is true or false`)
  }
}
