import type { Load, Waiting } from './flight.ts'
import type { Key } from './key.ts'
import type { Lock } from './lease.ts'
import type { Bounds } from './memory/policy.ts'
import type { SetOptions } from './options.ts'

/** What one handle did, counted where it is done. */
export interface Counts {
  hits: number
  misses: number
  writes: number
  deletes: number
  voidedFills: number
  unstored: number
  waitTimeouts: number
}

/** Nothing done yet. */
export function noCounts(): Counts {
  return {
    hits: 0,
    misses: 0,
    writes: 0,
    deletes: 0,
    voidedFills: 0,
    unstored: 0,
    waitTimeouts: 0,
  }
}

/** What the caches of a handle's namespaces share. */
export interface AnyHandle extends Waiting {
  /** What was done, and how many of the hits were the memory tier's. */
  counted(): Counts & { memoryHits: number }
  /** Those of the memory tier; undefined without one. */
  readonly bounds: Bounds | undefined
  readonly closed: boolean
  /** @throws Closed */
  check(): void
  close(): void
}

/** How a cache writes its entries. */
export interface Defaults {
  /** Milliseconds that an entry lives; 0 is for ever. */
  readonly ttl: number
}

/** What a cache holds. See `Stats`. */
export interface Holdings {
  entries: number
  bytes: number
  limit: number
  maxRecord: number
  evictedByAge: number
  evictedByConflict: number
  evictedByFailedPut: number
  expired: number
  reinserted: number
  blocksClaimed: number
  floorOverflows: number
}

/** What `check` found. */
export interface CheckReport {
  /** Entries whose checksums agree. */
  whole: number
  /** Entries that are damaged, with the reason, at most a hundred. */
  damaged: string[]
  /** Loads under way. */
  leases: number
}

/** The operations on the keys of one namespace, whatever the tiers are. Each throws `Closed`. */
export interface Keyspace {
  readonly handle: AnyHandle
  readonly parts: readonly string[]
  readonly settings: Defaults
  /** The namespace of these parts, over the same handle. */
  at(parts: readonly string[]): Keyspace
  /** The value, or undefined for a miss. */
  get(key: Key): unknown
  /** Like `get`, for a caller that goes on to a load, which counts its own misses. */
  peek(key: Key): unknown
  /** @throws InvalidKey */
  checkKey(key: Key): void
  /** Stores a value. Key, time to live and value are looked at in this order, and before anything is done. */
  put(key: Key, value: unknown, options: SetOptions | undefined): void
  /** True when an entry stood there. */
  delete(key: Key): boolean
  /** Whether there is an entry. */
  has(key: Key): boolean
  /** Milliseconds that the entry has left, infinite without expiry; undefined when there is none. */
  ttl(key: Key): number | undefined
  /** Begins a load of the key. */
  load(key: Key): Load
  /** The lock of the key's name. */
  lock(key: Key): Lock
  /** Text that is equal for equal keys of equal namespaces only. */
  identity(key: Key): string
  /** See `Loading`. */
  finish?(value: unknown): unknown
  /** The keys that begin with a prefix, found as the iteration goes on. */
  keys(prefix: Key): IterableIterator<Key>
  /** Clears the namespace and those nested in it. */
  clear(): void
  /** The directory, absolute; undefined where there is none. */
  path(): string | undefined
  holdings(): Holdings
  check(): Promise<CheckReport>
  flush(): Promise<void>
}
