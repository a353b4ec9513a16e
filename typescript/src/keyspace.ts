import type { Key } from './key.ts'
import type { Bounds } from './memory/policy.ts'
import type { SetOptions } from './options.ts'

/** What one handle did, counted where it is done. */
export interface Counts {
  hits: number
  misses: number
  writes: number
  deletes: number
  voidedFills: number
}

/** What the caches of a handle's namespaces share. */
export interface AnyHandle {
  /** What was done, and how many of the hits were the memory tier's. */
  counted(): Counts & { memoryHits: number }
  /** Milliseconds that a load may take before another caller may load the same key. */
  readonly leaseTimeout: number
  /** Those of the memory tier; undefined without one. */
  readonly bounds: Bounds | undefined
  readonly closed: boolean
  /** Callers with the same one wait for each other's loads. */
  readonly loads: object
  /** @throws Closed */
  check(): void
  close(): void
}

/** How a cache writes its entries. */
export interface Defaults {
  /** Milliseconds that an entry lives; 0 is for ever. */
  readonly ttl: number
}

/** The right to load a key, until it is filled, given back, or void. What it is, its tier knows. */
export type Token = object

/** What a loader brought, for callers that each want a value of their own. What it is, its tier knows. */
export type Payload = object

/** What a caller that would load a key gets. */
export type Lease =
  | { readonly state: 'hit'; readonly value: unknown }
  | { readonly state: 'acquired'; readonly token: Token }
  | { readonly state: 'busy' }
  | { readonly state: 'bypass' }

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

/** The operations on the keys of one namespace, whatever the tiers are. Each but `release` throws `Closed`. */
export interface Keyspace {
  readonly handle: AnyHandle
  readonly parts: readonly string[]
  readonly settings: Defaults
  /** The namespace of these parts, over the same handle. */
  at(parts: readonly string[]): Keyspace
  /** The value, or undefined for a miss. */
  get(key: Key): unknown
  /** Like `get`, for a caller that goes on to a lease, which counts its own misses. */
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
  /** Reads the key, or takes the lease to load it. */
  lease(key: Key): Lease
  /**
   * Stores what the holder of a lease loaded, unless the lease was voided; either way it has ended. Returns the payload for
   * others when `copy` is asked for.
   */
  fill(key: Key, token: Token, value: unknown, ttl: number, copy: boolean): Payload | undefined
  /** Gives a lease back without a value. Does nothing when it has ended already. */
  release(token: Token): void
  /** Whether a load may still be joined: nobody set, deleted or cleared its key since it began. */
  stands(token: Token): boolean
  /** A value of one's own from a payload that another caller loaded. */
  read(payload: Payload): unknown
  /** Text that is equal for equal keys of equal namespaces only. */
  identity(key: Key): string
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
