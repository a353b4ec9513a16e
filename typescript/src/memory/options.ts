import { type Duration, milliseconds } from '../duration.ts'
import { InvalidArgument } from '../errors.ts'
import { checkNames } from '../option-names.ts'
import { bytes } from '../size.ts'
import { Lru } from './lru.ts'
import type { Bounds, PolicyMaker } from './policy.ts'
import type { CloneInstance } from './stored.ts'
import { TwoQueueClock } from './two-queue-clock.ts'

/** What keeps a change of an object from being a change of the cache's entry: `MemoryOptions.isolation`. */
export type Isolation = 'clone' | 'freeze' | 'none'

/** Which entry goes when there is no room: `MemoryOptions.policy`. */
export type PolicyName = '2q-clock' | 'lru'

/** What bounds entries in memory, and what is handed out of them. */
export interface MemoryOptions {
  /** Most entries; 10,000 by default. */
  readonly maxEntries?: number
  /**
   * Most bytes that keys and values weigh together, by an estimate: a number, or text like `'64MiB'`, the default. With
   * `null` nothing is weighed.
   */
  readonly maxBytes?: number | string | null
  /** `2q-clock`, the default, is explained in `spec/eviction.md`; `lru` evicts exactly what was used longest ago. */
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

/** Options of a `MemoryCache`. */
export interface MemoryCacheOptions<K = unknown, V = unknown> extends MemoryOptions {
  /** How long an entry lives when its write does not say; for ever by default, until it is evicted. */
  readonly ttl?: Duration | null
  /** Whether reading an entry sets its time to live anew; false by default. */
  readonly sliding?: boolean
  /** Bytes that a key and its value weigh, a whole number; an estimate of what they take by default. */
  readonly weigher?: (value: V, key: K) => number
  /**
   * Milliseconds since 1970, asked at each use. By default the system's clock, which is asked once for many reads, at
   * least every millisecond that the event loop turns.
   */
  readonly clock?: () => number
}

/** Options of a write to a `MemoryCache`. */
export interface MemorySetOptions {
  /** How long the entry lives; the cache's `ttl` by default, `null` for ever. */
  readonly ttl?: Duration | null
  /** Whether reading sets the time to live anew; the cache's `sliding` by default. */
  readonly sliding?: boolean
}

const MEMORY_OPTIONS: readonly (keyof MemoryOptions)[] = [
  'maxEntries',
  'maxBytes',
  'policy',
  'isolation',
  'cloneInstance',
]
const MEMORY_CACHE_OPTIONS: ReadonlySet<string> = new Set<keyof MemoryCacheOptions>([
  ...MEMORY_OPTIONS,
  'ttl',
  'sliding',
  'weigher',
  'clock',
])
const TIER_OPTIONS: ReadonlySet<string> = new Set(MEMORY_OPTIONS)
const SET_OPTIONS: ReadonlySet<string> = new Set<keyof MemorySetOptions>(['ttl', 'sliding'])

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
  throw new InvalidArgument(`${String(name)} is not a policy: 2q-clock or lru`)
}

/**
 * The options of a cache's memory tier.
 * @throws InvalidArgument
 */
export function resolveTier(options: MemoryOptions): ResolvedMemory {
  checkNames(options, TIER_OPTIONS)
  return resolveMemory(options)
}

/** @throws InvalidArgument */
export function checkMemoryCache(options: MemoryCacheOptions): void {
  checkNames(options, MEMORY_CACHE_OPTIONS)
  checkFunction(options.weigher, 'weigher')
  checkFunction(options.clock, 'clock')
  checkFlag(options.sliding)
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
export function checkSet(options: MemorySetOptions): void {
  checkNames(options, SET_OPTIONS)
  checkFlag(options.sliding)
}

function checkFunction(given: unknown, name: string): void {
  if (given !== undefined && typeof given !== 'function') {
    throw new InvalidArgument(`${name} is a function, not ${typeof given}`)
  }
}

function checkFlag(sliding: unknown): void {
  if (sliding !== undefined && typeof sliding !== 'boolean') {
    throw new InvalidArgument('sliding is true or false')
  }
}
