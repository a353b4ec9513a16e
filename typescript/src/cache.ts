import type { AnyNamespace, AwaitedNamespace, CacheEntry, CheckReport } from './any-namespace.ts'
import { AtomicOperations } from './atomic.ts'
import type { Duration } from './duration.ts'
import { InvalidArgument } from './errors.ts'
import { fly, type Loader } from './flight.ts'
import {
  flyMany,
  flyManySync,
  inOrder,
  type ManyLoader,
  type SyncManyLoader,
} from './flight-many.ts'
import { flySync, type SyncLoader } from './flight-sync.ts'
import { getMany } from './get-many.ts'
import { showAs } from './inspect.ts'
import type { Key } from './key.ts'
import { alsoAwaited, awaitedOnly, type Keys } from './keys.ts'
import { Lease } from './lease.ts'
import { apart, manyOf } from './load-many.ts'
import { type Memoized, type MemoizeOptions, placeOf } from './memoize.ts'
import { namespaceParts } from './namespace.ts'
import { factsOf, OfNamespace, open } from './opening.ts'
import { checkLoader, type EntriesOf, listOf, pairsOf } from './option-names.ts'
import {
  type CacheOptions,
  type ExpiryOptions,
  type GetOrSetOptions,
  getOrSetOptions,
  type SetOptions,
  ttlOf,
} from './options.ts'
import { promised } from './promised.ts'
import type { MachineStats, RemoteStats, Stats, Usage } from './stats.ts'
import { uncloneable } from './uncloneable.ts'

/** What `setMany` takes: pairs, as a Map or a list has them, or an object. */
export type Entries = EntriesOf<Key, unknown>

/**
 * What a cache consists of, for `opentelemetry.ts`.
 * @internal
 */
export let keysOf: (cache: Cache) => AnyNamespace

/**
 * A cache in a directory, shared with every process of this machine that opens it, in TypeScript, Python, Ruby and Rust.
 *
 * Reads and writes take microseconds or less, so every method except `check` and `flush` has a synchronous twin. The
 * promises of the others are settled when they are returned, except those of `getOrSet`, `getOrSetMany`, `update`, `check`
 * and `flush`. A miss is `undefined`; `null` is a value. Every method except `close` throws `Closed` after `close`.
 */
export class Cache extends AtomicOperations {
  readonly #keys: AnyNamespace
  /** For the methods that return promises. */
  readonly #awaited: AwaitedNamespace
  /** Whether it opened its handle, and is not the view of a namespace. */
  readonly #isOwner: boolean

  static {
    keysOf = (cache) => cache.#keys
  }

  /**
   * Opens the cache.
   * @throws InvalidArgument, UnsupportedFilesystem, UnsupportedVersion, UnsupportedPlatform,
   *   ForeignDirectory, TooManyParticipants, NoSpace, IoError
   */
  constructor(options?: CacheOptions)
  /** @internal */
  constructor(options: CacheOptions | OfNamespace = {}) {
    const keys = options instanceof OfNamespace ? options.keys : open(options)
    super(keys)
    this.#keys = keys
    this.#awaited = keys.awaited
    this.#isOwner = !(options instanceof OfNamespace)
    uncloneable(this)
    showAs(this, () => factsOf(this.#keys))
  }

  /** The cache's directory, absolute; undefined when it has none. */
  get path(): string | undefined {
    return this.#keys.path()
  }

  /** What metrics call it: the option `name`, which the caches of nested namespaces share. */
  get name(): string {
    return this.#keys.settings.name
  }

  /** Whether the cache was closed. */
  get closed(): boolean {
    return this.#keys.handle.closed
  }

  /**
   * The cache of a namespace nested in this one, over the same handle: `close` closes both, the end of a `using` block
   * around this one neither.
   * @throws InvalidArgument for an empty part
   */
  namespace(part: string): Cache {
    const keys = this.#keys.at([...this.#keys.parts, ...namespaceParts(part)])
    return new (Cache as unknown as new (of: OfNamespace) => Cache)(new OfNamespace(keys))
  }

  /**
   * The key's value, or undefined when there is none. A new object at each call, never a shared one.
   * @throws InvalidKey; WrongType for what the `decode` of a registered type does not accept; MalformedEntry,
   * ValueTooLarge, UnsupportedSerializer and others for an entry that does not decode
   */
  getSync<T = unknown>(key: Key): T | undefined {
    return this.#keys.get(key) as T | undefined
  }

  /** Like `getSync`. */
  get<T = unknown>(key: Key): Promise<T | undefined> {
    return promised(() => this.#awaited.get(key) as T | undefined)
  }

  /**
   * The key's value, as `getSync` gives it, without a use of the entry: it counts as neither hit nor miss, and does not
   * protect the entry from eviction.
   * @throws what `getSync` does
   */
  peekSync<T = unknown>(key: Key): T | undefined {
    return this.#keys.peek(key) as T | undefined
  }

  /** Like `peekSync`. */
  async peek<T = unknown>(key: Key): Promise<T | undefined> {
    return this.#awaited.peek(key) as T | undefined
  }

  /**
   * Stores a value. Every read on this machine that begins after it returned sees it or a later one.
   * @throws UnsupportedValue, InvalidKey and InvalidArgument, which change nothing; EntryTooLarge, NoSpace and IoError, after
   *   which the old value is gone as well
   */
  setSync(key: Key, value: unknown, options?: SetOptions): void {
    this.#keys.put(key, value, options)
  }

  /** Like `setSync`. */
  set(key: Key, value: unknown, options?: SetOptions): Promise<void> {
    return promised(() => this.#awaited.put(key, value, options))
  }

  /**
   * Gives the key's entry another time to live from now on: the cache's own or `ttl`, `null` for ever; or the time at
   * which it expires, `{ expiresAt }`. True when there is an entry. The value is not decoded. A set, delete or clear
   * meanwhile wins.
   * @throws InvalidKey, InvalidArgument; NoSpace and IoError, after which the entry is as it was; UnknownEncryptionKey and the
   *   like
   */
  touchSync(key: Key, ttl?: Duration | null | ExpiryOptions): boolean {
    return this.#keys.touch(key, ttl)
  }

  /** Like `touchSync`. */
  async touch(key: Key, ttl?: Duration | null | ExpiryOptions): Promise<boolean> {
    return this.#awaited.touch(key, ttl)
  }

  /**
   * Deletes the key and returns the value that it had: of several callers, in all processes, one gets it. Like
   * `delete`, it invalidates all loads of the key under way; it counts as a hit or a miss. An entry that cannot be read
   * stays.
   * @throws what `getSync` does
   */
  takeSync<T = unknown>(key: Key): T | undefined {
    return this.#keys.take(key) as T | undefined
  }

  /** Like `takeSync`. */
  async take<T = unknown>(key: Key): Promise<T | undefined> {
    return this.#awaited.take(key) as T | undefined
  }

  /** Deletes the key and invalidates all loads of it under way; true when it had an entry. */
  deleteSync(key: Key): boolean {
    return this.#keys.delete(key)
  }

  /** Like `deleteSync`. */
  delete(key: Key): Promise<boolean> {
    return promised(() => this.#awaited.delete(key))
  }

  /** Whether the key has an entry; its value is not decoded. */
  hasSync(key: Key): boolean {
    return this.#keys.has(key)
  }

  /** Like `hasSync`. */
  has(key: Key): Promise<boolean> {
    return promised(() => this.#awaited.has(key))
  }

  /** Milliseconds that the key's entry has left, `Infinity` when it does not expire; undefined when there is none. */
  ttlSync(key: Key): number | undefined {
    return this.#keys.ttl(key)
  }

  /** Like `ttlSync`. */
  ttl(key: Key): Promise<number | undefined> {
    return promised(() => this.#awaited.ttl(key))
  }

  /**
   * The key's value with the facts of its entry; undefined when there is none. Not a use of the entry, as `peek`.
   * @throws what `getSync` does
   */
  entrySync<T = unknown>(key: Key): CacheEntry<T> | undefined {
    return this.#keys.entry(key) as CacheEntry<T> | undefined
  }

  /** Like `entrySync`. */
  async entry<T = unknown>(key: Key): Promise<CacheEntry<T> | undefined> {
    return this.#awaited.entry(key) as CacheEntry<T> | undefined
  }

  /**
   * The values of the keys that have one, by key, in the order of the keys.
   * @throws InvalidArgument for what is not a list: text is one key
   */
  getManySync<T = unknown, K extends Key = Key>(keys: Iterable<K>): Map<K, T> {
    return getMany<T, K>(this.#keys, this.#listOf(keys))
  }

  /** Like `getManySync`. */
  async getMany<T = unknown, K extends Key = Key>(keys: Iterable<K>): Promise<Map<K, T>> {
    const { several } = this.#awaited
    if (several === undefined) return this.getManySync<T, K>(keys)
    return several.get(this.#listOf(keys)) as Promise<Map<K, T>>
  }

  /** Stores several values, one after the other: after an error, those before it are stored. */
  setManySync(entries: Entries, options?: SetOptions): void {
    // Checked again with every pair, but also when there is none.
    ttlOf(options, this.#keys.settings.lifetime)
    this.#keys.handle.check()
    for (const [key, value] of pairsOf(entries, 'entries')) this.setSync(key, value, options)
  }

  /** Like `setManySync`. */
  async setMany(entries: Entries, options?: SetOptions): Promise<void> {
    const { several } = this.#awaited
    if (several === undefined) return this.setManySync(entries, options)
    ttlOf(options, this.#keys.settings.lifetime)
    this.#keys.handle.check()
    return several.set(pairsOf(entries, 'entries'), options)
  }

  /**
   * Deletes several keys; returns how many had an entry.
   * @throws InvalidArgument for what is not a list: text is one key
   */
  deleteManySync(keys: Iterable<Key>): number {
    let deleted = 0
    for (const key of this.#listOf(keys)) if (this.deleteSync(key)) deleted++
    return deleted
  }

  /** Like `deleteManySync`. */
  async deleteMany(keys: Iterable<Key>): Promise<number> {
    const { several } = this.#awaited
    return several === undefined ? this.deleteManySync(keys) : several.delete(this.#listOf(keys))
  }

  /**
   * Deletes the keys of this namespace, not of those nested in it, that begin with a prefix; returns how many entries
   * it deleted. Not one step: keys written meanwhile may stay.
   * @throws InvalidKey
   */
  deletePrefixSync(prefix: Key): number {
    const keys = this.#keys
    // Not the default of `keys`.
    keys.checkKey(prefix)
    let deleted = 0
    for (const key of keys.keys(prefix)) if (keys.delete(key)) deleted++
    return deleted
  }

  /** Like `deletePrefixSync`. */
  async deletePrefix(prefix: Key): Promise<number> {
    const { several } = this.#awaited
    if (several === undefined) return this.deletePrefixSync(prefix)
    this.#keys.checkKey(prefix)
    return several.deletePrefix(prefix)
  }

  /**
   * The key's value; when there is none, the loader's, which is stored. Of all callers on this machine, in every
   * language, one loads and the others wait for it, for `waitTimeout` at most; beside a load that is older than
   * `leaseTimeout` one caller loads again. When a loader fails, the callers here that waited for it get its error; when
   * it is aborted or killed, one of them loads. A set, delete or clear of the key during the load wins: the value is
   * returned and not stored. A value that cannot be stored is returned all the same, and reported (see `storeErrors`).
   *
   * What it returns is what `get` would: an object for a Map, a Uint8Array for a Buffer, a number for a small bigint.
   *
   * @throws what the loader throws; the signal's reason; `WaitTimeout`; InvalidArgument for a loader that asks at once for
   *   the key that it loads; with `storeErrors: 'raise'` what `setSync` throws for the loaded value
   */
  async getOrSet<T>(key: Key, loader: Loader<T>, options?: GetOrSetOptions): Promise<T> {
    const namespace = this.#awaited
    let ttl: number | undefined
    let signal: AbortSignal | undefined
    if (options !== undefined) {
      // A wrong key is reported before a wrong option.
      namespace.checkKey(key)
      ;({ ttl, signal } = getOrSetOptions(options))
      signal?.throwIfAborted()
    }
    checkLoader(loader)
    const value = namespace.find(key)
    if (value !== undefined) return value as T
    ttl ??= namespace.settings.lifetime.next()
    return fly({ namespace, key, loader, ttl, signal })
  }

  /**
   * Like `getOrSet`, for a loader that returns its value at once. It waits for other processes without the event loop,
   * for `waitTimeout` at most. A load of this thread could not go on meanwhile, so this caller loads beside it.
   * @throws what `getOrSet` does; InvalidArgument for a loader that returns a promise
   */
  getOrSetSync<T>(key: Key, loader: SyncLoader<T>, options?: SetOptions): T {
    const namespace = this.#keys
    let ttl: number | undefined
    if (options !== undefined) {
      namespace.checkKey(key)
      ttl = ttlOf(options, namespace.settings.lifetime)
    }
    checkLoader(loader)
    const value = namespace.find(key)
    if (value !== undefined) return value as T
    ttl ??= namespace.settings.lifetime.next()
    return flySync({ namespace, key, loader, ttl, sleep: namespace.sleep })
  }

  /**
   * The values of the keys, by key, in the order of the keys. Missing ones come from the loader, and are stored. The
   * rules of `getOrSet` hold for each key. The loader is called with a list of the keys that this caller is to load,
   * none of them twice; usually it is called once. Then the caller waits for keys that others load; if some of these
   * fall to it, the loader is called again. A key that the loader leaves out, or gives undefined for, has no entry and
   * is not among the values.
   *
   * ```ts
   * const users = await cache.getOrSetMany(['1', '2'], async (ids) => {
   *   const rows = await db.users(ids)
   *   return new Map(rows.map((row) => [row.id, row]))
   * })
   * ```
   *
   * @throws what `getOrSet` does; InvalidArgument for what is not a list of keys, and for a loader that returns a key
   *   that it was not asked for: then nothing is stored
   */
  async getOrSetMany<T, K extends Key = Key>(
    keys: Iterable<K>,
    loader: ManyLoader<K, T>,
    options?: GetOrSetOptions,
  ): Promise<Map<K, T>> {
    const request = manyOf(this.#awaited, keys, loader, options)
    return apart(this.#keys, inOrder(request, await flyMany<T, K>(request)))
  }

  /**
   * Like `getOrSetMany`, for a loader that returns its values at once: see `getOrSetSync`.
   * @throws what `getOrSetMany` does; InvalidArgument for a loader that returns a promise
   */
  getOrSetManySync<T, K extends Key = Key>(
    keys: Iterable<K>,
    loader: SyncManyLoader<K, T>,
    options?: SetOptions,
  ): Map<K, T> {
    const request = manyOf(this.#keys, keys, loader, options)
    // There is nothing that a signal could stop.
    if (options !== undefined) ttlOf(options, this.#keys.settings.lifetime)
    return apart(this.#keys, inOrder(request, flyManySync<T, K>(request)))
  }

  /**
   * A function with cached results, by the rules of `getOrSet`. They are kept in a nested namespace `name`, under the
   * text of the arguments, or, with `key`, in this cache under the key that it makes. They outlive the program, and
   * changes of the function's code.
   *
   * ```ts
   * const userOf = cache.memoize((id: number) => db.user(id), { name: 'user', ttl: '5m' })
   * await userOf(1)
   * await userOf.forget(1)
   * ```
   *
   * @throws InvalidArgument without `name` and `key`, and with both. The memoized one throws it for
   *   arguments that cannot be written as text
   */
  memoize<A extends unknown[], R>(
    work: (...args: A) => R | PromiseLike<R>,
    options: MemoizeOptions<A, Key>,
  ): Memoized<A, Promise<R>, Promise<boolean>> {
    const { cache, keyOf, load } = this.#memoized(work, options)
    const memoized = async (...args: A): Promise<R> =>
      cache.getOrSet<R>(keyOf(args), () => work(...args), load)
    return Object.assign(memoized, {
      forget: async (...args: A): Promise<boolean> => cache.delete(keyOf(args)),
    })
  }

  /**
   * Like `memoize`, for a function that returns at once.
   * @throws what `memoize` does; the memoized function throws InvalidArgument for one that returns a promise
   */
  memoizeSync<A extends unknown[], R>(
    work: (...args: A) => R,
    options: MemoizeOptions<A, Key>,
  ): Memoized<A, R, boolean> {
    const { cache, keyOf, load } = this.#memoized(work, options)
    const memoized = (...args: A): R => cache.getOrSetSync(keyOf(args), () => work(...args), load)
    return Object.assign(memoized, {
      forget: (...args: A): boolean => cache.deleteSync(keyOf(args)),
    })
  }

  /**
   * A lock by the name of a key, on this machine or, without a directory, in this program. It has nothing to do with the
   * key's entry.
   * @throws InvalidKey
   */
  lease(key: Key): Lease {
    const keys = this.#keys
    keys.checkKey(key)
    return new Lease(this.#awaited.lock(key), keys.handle.waitTimeout)
  }

  /**
   * The keys of this namespace, not of those nested in it, that begin with a prefix, in no order, found as the
   * iteration goes on. Text where a key is UTF-8, otherwise bytes.
   *
   * They are for `for await`; without `remote` for `for`, too.
   */
  keys(prefix: Key = ''): Keys {
    const { several } = this.#awaited
    if (several === undefined) return alsoAwaited(this.#keys.keys(prefix))
    this.#keys.checkKey(prefix)
    return awaitedOnly(several.keys(prefix))
  }

  /** Clears this namespace and those nested in it, in a short time that does not depend on their size. */
  clearSync(): void {
    this.#keys.clear()
  }

  /** Like `clearSync`. */
  async clear(): Promise<void> {
    return this.#awaited.clear()
  }

  /** What the directory holds and what this handle did. Walks the index: some milliseconds. */
  statsSync(): Stats {
    const keys = this.#keys
    return { ...keys.handle.counted(), ...keys.holdings() }
  }

  /** Like `statsSync`. */
  async stats(): Promise<Stats> {
    return this.statsSync()
  }

  /** What all processes did with the directory, in all languages; undefined without one. Walks the index. */
  machineStatsSync(): MachineStats | undefined {
    return this.#keys.handle.machineStats()
  }

  /** Like `machineStatsSync`. */
  async machineStats(): Promise<MachineStats | undefined> {
    return this.machineStatsSync()
  }

  /** What this handle did with its remote tier, and how that is; undefined without one. */
  remoteStats(): RemoteStats | undefined {
    return this.#keys.handle.remoteStats?.()
  }

  /**
   * The namespaces that take the most space, the largest first; undefined without a directory. Reads every key, on a thread
   * of its own. At most `most` namespaces. Default: `10`.
   * @throws InvalidArgument when `most` is not a whole number from 0 to 2^32 - 1
   */
  async usage(most = 10): Promise<Usage[] | undefined> {
    // The native part would take others modulo 2^32.
    if (most >>> 0 !== most) {
      throw new InvalidArgument(`most is a whole number from 0 to 2^32 - 1, not ${String(most)}`)
    }
    return this.#keys.handle.usage(most)
  }

  /** Verifies every entry of the whole directory against its checksums, on a thread of its own. */
  async check(): Promise<CheckReport> {
    return this.#keys.check()
  }

  /** Writes everything to the disk, on a thread of its own. A power loss undoes nothing that was done before. */
  async flush(): Promise<void> {
    await this.#keys.flush()
  }

  /** Closes this handle with the caches of its namespaces; closing again does nothing. */
  closeSync(): void {
    this.#keys.handle.close()
  }

  /** Like `closeSync`. */
  async close(): Promise<void> {
    return this.#keys.handle.close()
  }

  /** The end of a `using` block closes what the block opened: not the handle of a namespace. */
  [Symbol.dispose](): void {
    if (this.#isOwner) this.closeSync()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOwner) await this.close()
  }

  /**
   * A list of keys, which may be empty: then no operation on a key would say that the cache is closed.
   * @throws InvalidArgument, Closed
   */
  #listOf<K extends Key>(keys: Iterable<K>): Iterable<K> {
    const list = listOf(keys, 'keys')
    this.#keys.handle.check()
    return list
  }

  /** Where a memoized function's results are, and how they are written. */
  #memoized<A extends unknown[]>(work: (...args: A) => unknown, options: MemoizeOptions<A, Key>) {
    const { name, keyOf } = placeOf(work, options)
    const { ttl } = options
    const load = ttl === undefined ? undefined : { ttl }
    if (load !== undefined) ttlOf(load, this.#keys.settings.lifetime)
    return { cache: name === undefined ? this : this.namespace(name), keyOf, load }
  }
}
