import type { AnyNamespace, AwaitedNamespace } from './any-namespace.ts'
import { count, countAside } from './count.ts'
import { InvalidArgument } from './errors.ts'
import type { Key } from './key.ts'
import type { IncrementOptions, SetOptions, UpdateOptions } from './options.ts'
import { type Updated, update, updateSync } from './update.ts'

/**
 * The operations of a `Cache` that read and write as one step: of all callers on this machine, in every process and
 * language, no other changes the key in between. After an error nothing has changed.
 */
export abstract class AtomicOperations {
  readonly #keys: AnyNamespace
  readonly #awaited: AwaitedNamespace

  /** @internal */
  constructor(keys: AnyNamespace) {
    this.#keys = keys
    this.#awaited = keys.awaited
  }

  /**
   * Stores a value if the key has no entry. True if it was stored: of several callers that is one. A load of the key
   * under way is not stored then.
   * @throws UnsupportedValue, InvalidKey, InvalidArgument, EntryTooLarge, NoSpace, IoError; nothing has changed after any
   *   of them
   */
  addSync(key: Key, value: unknown, options?: SetOptions): boolean {
    return this.#keys.add(key, value, options)
  }

  /** Like `addSync`. */
  async add(key: Key, value: unknown, options?: SetOptions): Promise<boolean> {
    return this.#awaited.add(key, value, options)
  }

  /**
   * Stores a value if the key has an entry. True if it was stored.
   * @throws what `addSync` does
   */
  replaceSync(key: Key, value: unknown, options?: SetOptions): boolean {
    return this.#keys.replace(key, value, options, undefined)
  }

  /** Like `replaceSync`. */
  async replace(key: Key, value: unknown, options?: SetOptions): Promise<boolean> {
    return this.#awaited.replace(key, value, options, undefined)
  }

  /**
   * Stores a value if the key's entry still has this version, which `entry` tells. True if it was stored. False if the
   * key was written, touched or deleted since, or its entry was moved: read it again.
   *
   * ```ts
   * const entry = await cache.entry<string>('page')
   * if (entry) await cache.compareAndSet('page', entry.version, `${entry.value}, corrected`)
   * ```
   *
   * @throws what `addSync` does; InvalidArgument for what is not a version
   */
  compareAndSetSync(key: Key, version: bigint, value: unknown, options?: SetOptions): boolean {
    this.#checkVersion(key, version)
    return this.#keys.replace(key, value, options, version)
  }

  /** Like `compareAndSetSync`. */
  async compareAndSet(
    key: Key,
    version: bigint,
    value: unknown,
    options?: SetOptions,
  ): Promise<boolean> {
    this.#checkVersion(key, version)
    return this.#awaited.replace(key, value, options, version)
  }

  /** @throws InvalidKey, InvalidArgument */
  #checkVersion(key: Key, version: bigint): void {
    this.#keys.checkKey(key)
    if (typeof version !== 'bigint' || BigInt.asUintN(64, version) !== version) {
      throw new InvalidArgument('a version is the bigint that entry gave: unsigned, of 64 bits')
    }
  }

  /**
   * Reads the key and stores what a function makes of its value (undefined when there is none), deletes the key for
   * `DELETE`, or leaves it for `LEAVE`. If the key was changed in between, it reads again and calls the function again, 100
   * times at most: no update is lost. The function may use the cache; it holds no lock. If it throws, nothing has changed.
   *
   * Returns what was stored, as `get` would give it; undefined where the function deleted or left the key.
   *
   * ```ts
   * cache.updateSync('players', (players: string[] = []) => [...players, 'Ada'])
   * ```
   *
   * @throws what the function throws; Conflict when others changed the key each of the 100 times; what `getSync` and
   *   `addSync` do; InvalidArgument for a function that returns a promise
   */
  updateSync<T>(
    key: Key,
    work: (value: T | undefined) => Updated<T>,
    options?: UpdateOptions,
  ): T | undefined {
    return updateSync(this.#keys, key, work, options)
  }

  /**
   * Like `updateSync`, for a function that may return a promise.
   * @throws what `updateSync` does
   */
  async update<T>(
    key: Key,
    work: (value: T | undefined) => Updated<T> | PromiseLike<Updated<T>>,
    options?: UpdateOptions,
  ): Promise<T | undefined> {
    return update(this.#awaited, key, work, options)
  }

  /**
   * Adds to the key's integer and returns the sum: a number, or a bigint where a number would not be exact. A key without
   * an entry counts as `initial`. No addition is lost, however many callers add at once. An entry keeps its time to live.
   *
   * ```ts
   * cache.incrementSync('visits')
   * cache.incrementSync('visits', 10)
   * ```
   *
   * `by` is a whole number of 64 bits with a sign. Default: 1.
   * @throws WrongType for a value that is not an integer; IntegerOverflow for one, and a sum, that does not fit 64 bits with
   *   a sign; InvalidArgument for such a `by` and `initial`; what `getSync` and `addSync` do
   */
  incrementSync(key: Key, by: number | bigint = 1, options?: IncrementOptions): number | bigint {
    return count(this.#keys, { key, by, subtracts: false, options })
  }

  /** Like `incrementSync`. */
  async increment(
    key: Key,
    by: number | bigint = 1,
    options?: IncrementOptions,
  ): Promise<number | bigint> {
    return countAside(this.#awaited, { key, by, subtracts: false, options })
  }

  /**
   * Subtracts from the key's integer and returns what is left, as `incrementSync` adds to it.
   * @throws what `incrementSync` does
   */
  decrementSync(key: Key, by: number | bigint = 1, options?: IncrementOptions): number | bigint {
    return count(this.#keys, { key, by, subtracts: true, options })
  }

  /** Like `decrementSync`. */
  async decrement(
    key: Key,
    by: number | bigint = 1,
    options?: IncrementOptions,
  ): Promise<number | bigint> {
    return countAside(this.#awaited, { key, by, subtracts: true, options })
  }
}
