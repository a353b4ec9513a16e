import type { Duration } from './duration.ts'
import type { SerializerName } from './entry/serializer.ts'
import type { Loading, SyncLoad, Waiting, Watching } from './flight.ts'
import type { Key } from './key.ts'
import type { Lock } from './lease.ts'
import type { Lifetime } from './lifetime.ts'
import type { Bounds } from './memory/policy.ts'
import type { ExpiryOptions, SetOptions } from './options.ts'
import type { MachineStats, RemoteStats, Usage } from './stats.ts'

/** What one handle did, counted where it is done. */
export interface Counts {
  hits: number
  misses: number
  writes: number
  deletes: number
  invalidatedLoads: number
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
    invalidatedLoads: 0,
    unstored: 0,
    waitTimeouts: 0,
  }
}

/** What the caches of a handle's namespaces share. */
export interface AnyHandle extends Waiting {
  /** What was done, and how many of the hits were the memory tier's. */
  counted(): Counts & { memoryHits: number }
  /** What all processes did; undefined without a directory. */
  machineStats(): MachineStats | undefined
  /** The namespaces that take the most space; undefined without a directory. */
  usage(most: number): Promise<Usage[]> | undefined
  /** Those of the memory tier; undefined without one. */
  readonly bounds: Bounds | undefined
  watch: Watching | undefined
  readonly closed: boolean
  /** @throws Closed */
  check(): void
  /** What was done with the remote tier; absent without one. */
  remoteStats?(): RemoteStats
  /** A promise where a server is told. */
  close(): void | Promise<void>
}

/** How a cache writes its entries, and what it is called. */
export interface Defaults {
  readonly lifetime: Lifetime
  /** In metrics. */
  readonly name: string
}

/** An entry with its facts. */
export interface CacheEntry<T = unknown> {
  /** The value, as `get` gives it. */
  readonly value: T
  /** Milliseconds that it has left, as `ttl` gives them; `Infinity` when it does not expire. */
  readonly ttl: number
  /** When it was written, in milliseconds since 1970; undefined without a directory. */
  readonly created: number | undefined
  /** When it expires, in milliseconds since 1970; undefined when it does not. */
  readonly expires: number | undefined
  /** Bytes of the entry as it is stored, with its header; what it weighs where there is no directory. */
  readonly size: number
  /** The serializer; undefined without a directory. */
  readonly serializer: SerializerName | undefined
  /** The compressor; undefined without a directory. */
  readonly compressor: 'none' | 'zstd' | undefined
  /**
   * What tells the entry from every other, for `compareAndSet`: each write of the key and each `touch` gives another. Only
   * good to be compared; it means nothing after the machine restarted.
   */
  readonly version: bigint
}

/** What an update found at a key; only that is changed. */
export interface Found {
  /** The key's value; undefined for a miss. */
  readonly value: unknown
  /**
   * Stores a value and returns it as `get` would; undefined if the key was changed since. Without `ttl` an entry keeps its
   * time to live, and a new one has the cache's.
   */
  set(value: unknown, ttl: number | undefined): unknown
  /** Deletes the key; false if it was changed since. */
  delete(): boolean | Promise<boolean>
}

/** What is added to a key's integer. */
export interface Addend {
  /** An integer of 64 bits, as is `initial`. */
  readonly by: bigint
  /** What a key without an entry counts as. */
  readonly initial: bigint
  /** Whether `by` is subtracted. */
  readonly subtracts: boolean
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
  failedFlushes: number
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
export interface AnyNamespace {
  readonly handle: AnyHandle
  readonly parts: readonly string[]
  readonly settings: Defaults
  /** The namespace of these parts, over the same handle. */
  at(parts: readonly string[]): AnyNamespace
  /** The value, or undefined for a miss. */
  get(key: Key): unknown
  /** Like `get`, for a caller that goes on to a load, which counts its own misses. */
  find(key: Key): unknown
  /** The value, without a use of the entry: it is neither counted nor marked as read. */
  peek(key: Key): unknown
  /** The entry, without a use of it. */
  entry(key: Key): CacheEntry | undefined
  /** @throws InvalidKey */
  checkKey(key: Key): void
  /** Stores a value. Key, time to live and value are looked at in this order, and before anything is done. */
  put(key: Key, value: unknown, options: SetOptions | undefined): void
  /** Gives the entry another time to live from now on. True when there is one. */
  touch(key: Key, ttl: Duration | null | ExpiryOptions | undefined): boolean
  /** Stores a value if the key has no entry. Whether it did; arguments are looked at as by `put`. */
  add(key: Key, value: unknown, options: SetOptions | undefined): boolean
  /** Stores a value if the key has an entry, of this version if one is given. Whether it did. */
  replace(
    key: Key,
    value: unknown,
    options: SetOptions | undefined,
    version: bigint | undefined,
  ): boolean
  /** Reads the key for an update of it, without a use of the entry. */
  findToUpdate(key: Key): Found
  /** Adds to the key's integer and returns the sum; `ttl` is for a key without an entry. */
  increment(key: Key, addend: Addend, ttl: number): bigint
  /** Prepares for reads of these keys, which follow; absent where there is nothing to prepare. */
  prefetch?(keys: readonly Key[]): void
  /** Deletes the key and returns its value; undefined for a miss. */
  take(key: Key): unknown
  /** True when it had an entry. */
  delete(key: Key): boolean
  /** Whether there is an entry. */
  has(key: Key): boolean
  /** Milliseconds that the entry has left, infinite without expiry; undefined when there is none. */
  ttl(key: Key): number | undefined
  /** Waits for another process, without the event loop; absent where there is none. */
  readonly sleep: ((ms: number) => void) | undefined
  /** Begins a load of the key. */
  load(key: Key): SyncLoad
  /** The lock of the key's name. */
  lock(key: Key): Lock
  /** Text that is equal for equal keys of equal namespaces only. */
  identity(key: Key): string
  /** See `Loading`. */
  finish?(value: unknown): unknown
  /** Another value like one that was handed out, as another reader would be given it. */
  copyOf(value: unknown): unknown
  /** The keys that begin with a prefix, found as the iteration goes on. */
  keys(prefix: Key): IterableIterator<Key>
  /** Clears the namespace and those nested in it. */
  clear(): void
  /** The directory, absolute; undefined where there is none. */
  path(): string | undefined
  holdings(): Holdings
  check(): Promise<CheckReport>
  flush(): Promise<void>
  /** The same operations for callers that can wait; itself where there is nothing to wait for. */
  readonly awaited: AwaitedNamespace
}

type Eventually<F> = F extends (...given: infer A) => infer R
  ? (...given: A) => R | Promise<R>
  : never

/** The operations that may have to wait for a server. */
type Waits =
  | ('get' | 'peek' | 'entry' | 'put' | 'touch' | 'add' | 'replace' | 'findToUpdate' | 'increment')
  | ('take' | 'delete' | 'has' | 'ttl' | 'clear')

/** The operations on the keys of one namespace, whose answers may be promises. */
export type AwaitedNamespace = {
  readonly [Name in Waits]: Eventually<AnyNamespace[Name]>
} & Pick<
  AnyNamespace,
  'handle' | 'settings' | 'sleep' | 'checkKey' | 'identity' | 'copyOf' | 'lock'
> &
  Loading<Key> & {
    readonly handle: AnyHandle
    /** Several keys in one go, where that is less work than one after the other. */
    readonly several?: Several
  }

/** Operations on several keys, and on what must be asked for. */
export interface Several {
  /** In the order of the keys. */
  get<K extends Key>(keys: Iterable<K>): Promise<Map<K, unknown>>
  set(entries: Iterable<readonly [Key, unknown]>, options: SetOptions | undefined): Promise<void>
  delete(keys: Iterable<Key>): Promise<number>
  deletePrefix(prefix: Key): Promise<number>
  keys(prefix: Key): AsyncIterableIterator<Key, void>
}
