import { InvalidArgument } from './errors.ts'
import { fly, type Loader } from './flight.ts'
import { Handle } from './host/handle.ts'
import { HostNamespace } from './host/namespace.ts'
import { showAs } from './inspect.ts'
import type { Key } from './key.ts'
import type { CheckReport, Holdings, Keyspace } from './keyspace.ts'
import { Lease } from './lease.ts'
import { MemoryHandle } from './memory/handle.ts'
import { MemoryNamespace } from './memory/namespace.ts'
import { namespaceParts } from './namespace.ts'
import { listOf, pairOf } from './option-names.ts'
import {
  type CacheOptions,
  type GetOrSetOptions,
  getOrSetOptions,
  resolveOptions,
  type SetOptions,
  ttlOf,
} from './options.ts'
import { uncloneable } from './uncloneable.ts'

/** What a cache holds and what became of the rest. The first eight count this handle's own operations. */
export interface Stats extends Holdings {
  /** Reads that found an entry. */
  hits: number
  /** Those of them that the memory tier answered. */
  memoryHits: number
  /** Reads that found none. */
  misses: number
  /** Entries stored. */
  writes: number
  /** Entries deleted. */
  deletes: number
  /** Loads whose entry was refused, because a set or delete came in between. */
  voidedFills: number
  /** Loaded values that could not be stored. */
  unstored: number
  /** Callers who got `WaitTimeout`. */
  waitTimeouts: number
}

/** What `setMany` takes: pairs, as a Map or a list has them, or an object. */
export type Entries = Iterable<readonly [Key, unknown]> | Readonly<Record<string, unknown>>

/**
 * A cache in a directory, shared with every process of this machine that opens it, in TypeScript, Python, Ruby and Rust.
 *
 * Reads and writes take microseconds or less and never wait, so every method has a synchronous twin; the promises of the
 * others are settled when they are returned, but for `getOrSet`, `check` and `flush`. A miss is `undefined`; `null` is a
 * value. Every method but `close` throws `Closed` after `close`.
 */
export class Cache {
  readonly #keys: Keyspace

  /**
   * Opens the cache.
   * @throws InvalidArgument, ConfigMismatch, UnsupportedFilesystem, UnsupportedVersion, UnsupportedPlatform,
   *   ForeignDirectory, TooManyParticipants, NoSpace, IoError
   */
  constructor(options?: CacheOptions)
  /** @internal */
  constructor(options: CacheOptions | OfNamespace = {}) {
    this.#keys = options instanceof OfNamespace ? options.keys : open(options)
    uncloneable(this)
    showAs(this, () => factsOf(this.#keys))
  }

  /** The cache's directory, absolute; undefined when it has none. */
  get path(): string | undefined {
    return this.#keys.path()
  }

  /** Whether the cache was closed. */
  get closed(): boolean {
    return this.#keys.handle.closed
  }

  /**
   * The cache of a namespace nested in this one, over the same handle: closing either closes both.
   * @throws InvalidArgument for an empty part
   */
  namespace(part: string): Cache {
    const keys = this.#keys.at([...this.#keys.parts, ...namespaceParts(part)])
    return new (Cache as unknown as new (of: OfNamespace) => Cache)(new OfNamespace(keys))
  }

  /**
   * The key's value, or undefined when there is none. A new object at each call, never one that is shared.
   * @throws InvalidKey; WrongType for what the `decode` of a registered type does not take; MalformedEntry, ValueTooLarge, UnsupportedSerializer and the like for an entry that does not decode
   */
  getSync<T = unknown>(key: Key): T | undefined {
    return this.#keys.get(key) as T | undefined
  }

  /** Like `getSync`. */
  async get<T = unknown>(key: Key): Promise<T | undefined> {
    return this.getSync<T>(key)
  }

  /**
   * Stores a value. When it returns, every read on this machine that begins sees it or a later one.
   * @throws UnsupportedValue, InvalidKey and InvalidArgument, which change nothing; EntryTooLarge, NoSpace and IoError, after
   *   which the old value is gone as well
   */
  setSync(key: Key, value: unknown, options?: SetOptions): void {
    this.#keys.put(key, value, options)
  }

  /** Like `setSync`. */
  async set(key: Key, value: unknown, options?: SetOptions): Promise<void> {
    this.setSync(key, value, options)
  }

  /** Deletes the key and voids every load of it under way; true when an entry stood there. */
  deleteSync(key: Key): boolean {
    return this.#keys.delete(key)
  }

  /** Like `deleteSync`. */
  async delete(key: Key): Promise<boolean> {
    return this.deleteSync(key)
  }

  /** Whether the key has an entry; its value is not decoded. */
  hasSync(key: Key): boolean {
    return this.#keys.has(key)
  }

  /** Like `hasSync`. */
  async has(key: Key): Promise<boolean> {
    return this.hasSync(key)
  }

  /** Milliseconds that the key's entry has left, `Infinity` when it does not expire; undefined when there is none. */
  ttlSync(key: Key): number | undefined {
    return this.#keys.ttl(key)
  }

  /** Like `ttlSync`. */
  async ttl(key: Key): Promise<number | undefined> {
    return this.ttlSync(key)
  }

  /**
   * The values of those of the keys that are there, by key, in the order of the keys.
   * @throws InvalidArgument for what is no list: text is one key
   */
  getManySync<T = unknown, K extends Key = Key>(keys: Iterable<K>): Map<K, T> {
    const found = new Map<K, T>()
    for (const key of listOf(keys, 'keys')) {
      const value = this.getSync<T>(key)
      if (value !== undefined) found.set(key, value)
    }
    return found
  }

  /** Like `getManySync`. */
  async getMany<T = unknown, K extends Key = Key>(keys: Iterable<K>): Promise<Map<K, T>> {
    return this.getManySync<T, K>(keys)
  }

  /** Stores several values, one after the other: after an error, those before it are stored. */
  setManySync(entries: Entries, options?: SetOptions): void {
    const listed = typeof entries !== 'object' || entries === null || Symbol.iterator in entries
    const pairs = listed
      ? listOf(entries as Iterable<readonly [Key, unknown]>, 'entries')
      : Object.entries(entries)
    // Looked at once more with every pair, but also when there is none.
    ttlOf(options, 0)
    for (const pair of pairs) {
      const [key, value] = pairOf(pair)
      this.setSync(key, value, options)
    }
  }

  /** Like `setManySync`. */
  async setMany(entries: Entries, options?: SetOptions): Promise<void> {
    this.setManySync(entries, options)
  }

  /**
   * Deletes several keys; returns how many had an entry.
   * @throws InvalidArgument for what is no list: text is one key
   */
  deleteManySync(keys: Iterable<Key>): number {
    let deleted = 0
    for (const key of listOf(keys, 'keys')) if (this.deleteSync(key)) deleted++
    return deleted
  }

  /** Like `deleteManySync`. */
  async deleteMany(keys: Iterable<Key>): Promise<number> {
    return this.deleteManySync(keys)
  }

  /**
   * The key's value; when there is none, the loader's, which is stored. Of all callers on this machine, in every language,
   * one loads and the others wait for it, for `waitTimeout` at most; a load that is older than `leaseTimeout` is waited for
   * no longer, and one caller loads beside it. When a loader fails, those who waited for it here get its error; when it is
   * aborted or killed, one of them loads. A set, delete or clear of the key during the load wins: the value is returned
   * and not stored. A value that cannot be stored is returned all the same, and reported (see `storeErrors`).
   *
   * What it returns is what `get` would: an object for a Map, a Uint8Array for a Buffer, a number for a small bigint.
   *
   * @throws what the loader throws; the signal's reason; `WaitTimeout`; InvalidArgument for a loader that asks at once for
   *   the key that it loads; with `storeErrors: 'raise'` what `setSync` throws for the loaded value
   */
  async getOrSet<T>(key: Key, loader: Loader<T>, options?: GetOrSetOptions): Promise<T> {
    const namespace = this.#keys
    let { ttl } = namespace.settings
    let signal: AbortSignal | undefined
    if (options !== undefined) {
      // A wrong key is told before a wrong option.
      namespace.checkKey(key)
      ;({ ttl, signal } = getOrSetOptions(options, ttl))
      signal?.throwIfAborted()
    }
    if (typeof loader !== 'function') throw new InvalidArgument('the loader is a function')
    const value = namespace.peek(key)
    if (value !== undefined) return value as T
    return fly({ namespace, key, loader, ttl, signal })
  }

  /**
   * A lock by the name of a key, on this machine or, without a directory, in this program. It has nothing to do with the
   * key's entry.
   * @throws InvalidKey
   */
  lease(key: Key): Lease {
    const keys = this.#keys
    keys.checkKey(key)
    return new Lease(keys.lock(key), keys.handle.waitTimeout)
  }

  /**
   * The keys of this namespace, not of those nested in it, that begin with a prefix, in no order, found as the iteration
   * goes on. Text where a key is UTF-8, else bytes.
   */
  keys(prefix: Key = ''): IterableIterator<Key> {
    return this.#keys.keys(prefix)
  }

  /** Clears this namespace and those nested in it, whatever their size, in the same short time. */
  clearSync(): void {
    this.#keys.clear()
  }

  /** Like `clearSync`. */
  async clear(): Promise<void> {
    this.clearSync()
  }

  /** What the whole directory holds and what this handle did. Walks the index: some milliseconds. */
  statsSync(): Stats {
    const keys = this.#keys
    return { ...keys.handle.counted(), ...keys.holdings() }
  }

  /** Like `statsSync`. */
  async stats(): Promise<Stats> {
    return this.statsSync()
  }

  /** Verifies every entry of the whole directory against its checksums, on a thread of its own. */
  async check(): Promise<CheckReport> {
    return this.#keys.check()
  }

  /** Writes everything to the disk, on a thread of its own. Only `keepAfterReboot` has a use for it. */
  async flush(): Promise<void> {
    await this.#keys.flush()
  }

  /** Closes this handle with the caches of its namespaces; closing again does nothing. */
  closeSync(): void {
    this.#keys.handle.close()
  }

  /** Like `closeSync`. */
  async close(): Promise<void> {
    this.closeSync()
  }

  [Symbol.dispose](): void {
    this.closeSync()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closeSync()
  }
}

/** What the cache of a nested namespace is made of. */
class OfNamespace {
  readonly keys: Keyspace

  constructor(keys: Keyspace) {
    this.keys = keys
  }
}

/** What `console.log` shows of a cache. */
function factsOf(keys: Keyspace): Record<string, unknown> {
  const { handle, parts } = keys
  if (handle.closed) return { namespace: parts, closed: true }
  return { path: keys.path(), namespace: parts, memory: handle.bounds ?? false }
}

function open(options: CacheOptions): Keyspace {
  const { host, ttl, waiting, parts, memory, clock, types } = resolveOptions(options)
  if (host !== undefined) {
    const handle = new Handle(host.opening, clock, host.memory, waiting, types)
    return new HostNamespace(handle, parts, host.settings)
  }
  const of = { ...(memory || {}), ...(clock && { clock }) }
  return new MemoryNamespace(new MemoryHandle(of, waiting, types), parts, { ttl })
}
