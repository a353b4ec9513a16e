import type {
  Addend,
  AnyNamespace,
  CacheEntry,
  CheckReport,
  Defaults,
  Found,
  Holdings,
} from '../any-namespace.ts'
import { asRead } from '../count.ts'
import type { Duration } from '../duration.ts'
import { EntryTooLarge, InvalidKey } from '../errors.ts'
import type { Key } from '../key.ts'
import { namespacePrefix } from '../namespace.ts'
import { type ExpiryOptions, type SetOptions, ttlFrom, ttlOf } from '../options.ts'
import { count, MemoryFound } from './conditional.ts'
import type { MemoryHandle } from './handle.ts'
import { bytesOf, isBytes, keyOf, nameOf } from './key-name.ts'
import { type LoadedInto, LocalLoad } from './loads.ts'
import { LocalLock } from './lock.ts'
import type { NamedEntries } from './named-entries.ts'

/** The operations on the keys of one namespace of a cache that has the memory tier alone. */
export class MemoryNamespace implements AnyNamespace {
  readonly handle: MemoryHandle
  readonly parts: readonly string[]
  readonly settings: Defaults
  readonly awaited: MemoryNamespace = this
  /** No other process has these keys. */
  readonly sleep: undefined
  readonly #prefix: string
  readonly #entries: NamedEntries
  readonly #loaded: LoadedInto<string>

  constructor(handle: MemoryHandle, parts: readonly string[], settings: Defaults) {
    handle.check()
    this.handle = handle
    this.parts = parts
    this.settings = settings
    this.#prefix = Buffer.from(namespacePrefix(parts)).toString('latin1')
    this.#entries = handle.entriesOf(parts, this.#prefix)
    this.#loaded = loadedInto(handle, this.#entries)
  }

  at(parts: readonly string[]): MemoryNamespace {
    return new MemoryNamespace(this.handle, parts, this.settings)
  }

  get(key: Key): unknown {
    const value = this.find(key)
    if (value === undefined) this.handle.counts.misses++
    return value
  }

  find(key: Key): unknown {
    const { handle } = this
    handle.check()
    const value = this.#entries.get(nameOf(key))
    if (value !== undefined) handle.counts.hits++
    else this.checkKey(key)
    return value
  }

  peek(key: Key): unknown {
    this.checkKey(key)
    return this.#entries.peek(nameOf(key))
  }

  entry(key: Key): CacheEntry | undefined {
    this.checkKey(key)
    const name = nameOf(key)
    const version = this.#entries.version(name)
    const found = this.#entries.entry(name)
    if (version === undefined || found === undefined || found.stale) return undefined
    const { value, ttl, expires, bytes } = found
    return {
      value,
      ttl,
      created: undefined,
      expires: expires === Number.POSITIVE_INFINITY ? undefined : expires,
      size: bytes,
      serializer: undefined,
      compressor: undefined,
      version: BigInt(version),
    }
  }

  touch(key: Key, given: Duration | null | ExpiryOptions | undefined): boolean {
    this.checkKey(key)
    const ttl = ttlFrom(given, this.settings.lifetime)
    return this.#entries.renew(nameOf(key), ttl)
  }

  add(key: Key, value: unknown, options: SetOptions | undefined): boolean {
    this.checkKey(key)
    const ttl = ttlOf(options, this.settings.lifetime)
    const name = nameOf(key)
    return this.#storeIf(name, value, ttl, () => !this.#entries.has(name))
  }

  replace(
    key: Key,
    value: unknown,
    options: SetOptions | undefined,
    version: bigint | undefined,
  ): boolean {
    this.checkKey(key)
    const ttl = ttlOf(options, this.settings.lifetime)
    const name = nameOf(key)
    return this.#storeIf(name, value, ttl, () => {
      const there = this.#entries.version(name)
      return there !== undefined && (version === undefined || version === BigInt(there))
    })
  }

  findToUpdate(key: Key): Found {
    this.checkKey(key)
    const storeIf = this.#storeIf.bind(this)
    return new MemoryFound(nameOf(key), this.handle, this.#entries, this.settings.lifetime, storeIf)
  }

  increment(key: Key, addend: Addend, ttl: number): bigint {
    this.checkKey(key)
    const name = nameOf(key)
    const there = this.#entries.peek(name)
    const sum = count(there, addend)
    // Nobody's code runs in between.
    this.#storeIf(name, asRead(sum), there === undefined ? ttl : undefined, () => true)
    return sum
  }

  #storeIf(name: string, value: unknown, ttl: number | undefined, stands: () => boolean): boolean {
    const { handle } = this
    const stored = this.#entries.storeIf(name, value, ttl, () => {
      // A getter of the value may have closed it.
      handle.check()
      return stands()
    })
    if (!stored) return false
    this.#entries.loads.delete(name)
    handle.counts.writes++
    return true
  }

  take(key: Key): unknown {
    this.checkKey(key)
    const name = nameOf(key)
    this.#entries.loads.delete(name)
    const value = this.#entries.take(name)
    if (this.#count(value !== undefined)) this.handle.counts.deletes++
    return value
  }

  checkKey(key: Key): void {
    this.handle.check()
    nameOf(key)
    if (typeof key === 'string' && !key.isWellFormed()) {
      throw new InvalidKey('the key holds half a surrogate pair, which has no UTF-8 form')
    }
  }

  put(key: Key, value: unknown, options: SetOptions | undefined): void {
    this.checkKey(key)
    const ttl = ttlOf(options, this.settings.lifetime)
    const name = nameOf(key)
    const { handle } = this
    try {
      this.#entries.store(name, value, ttl)
    } catch (error) {
      // Then the old value is gone. Other errors change nothing.
      if (error instanceof EntryTooLarge) this.#entries.loads.delete(name)
      throw error
    }
    this.#entries.loads.delete(name)
    handle.counts.writes++
  }

  delete(key: Key): boolean {
    this.checkKey(key)
    const name = nameOf(key)
    this.#entries.loads.delete(name)
    const stood = this.#entries.delete(name)
    if (stood) this.handle.counts.deletes++
    return stood
  }

  has(key: Key): boolean {
    this.checkKey(key)
    return this.#count(this.#entries.has(nameOf(key)))
  }

  ttl(key: Key): number | undefined {
    this.checkKey(key)
    const left = this.#entries.ttl(nameOf(key))
    this.#count(left !== undefined)
    return left
  }

  load(key: Key): LocalLoad<string> {
    this.checkKey(key)
    return new LocalLoad(this.#entries.loads, nameOf(key), this.#loaded)
  }

  lock(key: Key): LocalLock {
    this.checkKey(key)
    return new LocalLock(this.handle, this.identity(key))
  }

  identity(key: Key): string {
    return this.#prefix + nameOf(key)
  }

  copyOf(value: unknown): unknown {
    try {
      return this.handle.core.copyOf(value)()
    } catch {
      // What cannot be stored has no copies.
      return value
    }
  }

  keys(prefix: Key): IterableIterator<Key> {
    this.checkKey(prefix)
    return this.#beginningWith(nameOf(prefix))
  }

  *#beginningWith(prefix: string): Generator<Key, void, undefined> {
    const bytes = Buffer.from(bytesOf(prefix))
    for (const name of this.#entries.keys()) {
      this.handle.check()
      // Text begins with text, or its bytes do with bytes that end within a character.
      const begins =
        isBytes(name) || isBytes(prefix)
          ? bytes.equals(bytesOf(name).subarray(0, bytes.length))
          : name.startsWith(prefix)
      if (begins) yield keyOf(name)
    }
  }

  clear(): void {
    this.handle.check()
    this.handle.clear(this.parts)
  }

  path(): undefined {
    this.handle.check()
  }

  holdings(): Holdings {
    this.handle.check()
    const { counts, store } = this.handle.core
    const { maxBytes } = store.bounds
    return {
      entries: store.live,
      bytes: store.weight,
      limit: maxBytes,
      maxRecord: maxBytes,
      evictedByAge: counts.evicted,
      evictedByConflict: 0,
      evictedByFailedPut: 0,
      expired: counts.expired,
      reinserted: 0,
      blocksClaimed: 0,
      floorOverflows: 0,
      failedFlushes: 0,
    }
  }

  /** There are no bytes that could be damaged. */
  async check(): Promise<CheckReport> {
    this.handle.check()
    return { whole: this.handle.core.store.live, damaged: [], leases: this.handle.countLoads() }
  }

  async flush(): Promise<void> {
    this.handle.check()
  }

  #count(found: boolean): boolean {
    if (found) this.handle.counts.hits++
    else this.handle.counts.misses++
    return found
  }
}

/** What loads do with the entries of a namespace. */
function loadedInto(handle: MemoryHandle, entries: NamedEntries): LoadedInto<string> {
  const { counts, core } = handle
  const { keeper } = core
  return {
    bounds: handle,
    counts,
    find: (name) => {
      handle.check()
      const value = entries.get(name)
      if (value !== undefined) counts.hits++
      return value
    },
    store: (name, value, ttl, stands) => {
      handle.check()
      if (!stands) {
        counts.invalidatedLoads++
        keeper.keep(value)
        return
      }
      entries.store(name, value, ttl)
      counts.writes++
    },
    converted: () => keeper.converted,
    copyOf: (value) => core.copyOf(value),
  }
}
