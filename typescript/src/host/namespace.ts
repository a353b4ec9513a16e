import type {
  Addend,
  AnyNamespace,
  CacheEntry,
  CheckReport,
  Defaults,
  Found,
  Holdings,
} from '../any-namespace.ts'
import type { Duration } from '../duration.ts'
import type { Types } from '../entry/registered.ts'
import { Unrevived } from '../entry/revive.ts'
import { Scratch } from '../entry/scratch.ts'
import {
  readPayload,
  SERIALIZER_IDS,
  type SerializerName,
  serializerName,
  WriterPool,
} from '../entry/serializer.ts'
import { measure } from '../entry/weight.ts'
import { type Key, KeyBuffer, toKey } from '../key.ts'
import type { Lock } from '../lease.ts'
import type { MemoryOverHost, Origin } from '../memory/over-host.ts'
import { finish, type SlotsByKey } from '../memory/over-tier.ts'
import { namespacePrefix } from '../namespace.ts'
import { type ExpiryOptions, type SetOptions, ttlFrom, ttlOf } from '../options.ts'
import { sleep } from '../wait-sync.ts'
import { add, HostFound, increment, replace } from './conditional.ts'
import type { Handle } from './handle.ts'
import { copyOf, HostLoad, type LoadedInto } from './load.ts'
import { HostLock } from './lock.ts'
import {
  guarded,
  MISS,
  type NativeDictionaries,
  type NativeEncryption,
  type NativeNamespace,
  native,
  type Operations,
  typed,
} from './native.ts'
import { NativeOrigin, seen } from './origin.ts'
import { prefetch } from './prefetch.ts'
import { ASK_NATIVE, MappedReader } from './reader.ts'

/** How a cache writes and reads its entries. */
export interface Settings extends Defaults {
  readonly serializer: SerializerName
  /** The zstd level; 0 is no compression, -1 smart. */
  readonly level: number
  /** Most bytes of a payload that is read. */
  readonly maxValue: number
  /** Of entries that are written, in milliseconds; 0 is none. */
  readonly timeToIdle: number
  /** Absent where values are stored as they are. */
  readonly encryption: NativeEncryption | undefined
  /** Absent where zstd compresses without, or not at all. */
  readonly dictionaries: NativeDictionaries | undefined
  /** The registered types, if there are any. */
  readonly types: Types | undefined
}

/** Slots that are looked at for one page of keys. */
const PAGE = 4096

/** The origin of the payload that the native part copied last. */
const asked = new NativeOrigin()

/**
 * Where payloads are copied to before they are decoded. Decoding runs no caller's code, so one is enough: the code of
 * registered types runs after all is decoded (`revive`).
 */
const scratch = new Scratch()

/** The operations on the keys of one namespace, on the way to the directory. */
export class HostNamespace implements AnyNamespace {
  readonly handle: Handle
  readonly parts: readonly string[]
  readonly settings: Settings
  readonly awaited: HostNamespace = this
  readonly sleep: (ms: number) => void = sleep
  readonly #key: KeyBuffer
  readonly #native: NativeNamespace
  readonly #number: number
  readonly #calls: Operations
  readonly #reader: MappedReader | undefined
  readonly #writers: WriterPool
  readonly #memory: MemoryOverHost | undefined
  readonly #slotsByKey: SlotsByKey
  readonly #into: LoadedInto
  readonly #reviving: { readonly types: Types | undefined; readonly isClosed: () => boolean }

  constructor(handle: Handle, parts: readonly string[], settings: Settings) {
    handle.check()
    this.handle = handle
    this.parts = parts
    this.settings = settings
    this.#key = new KeyBuffer(namespacePrefix(parts))
    this.#calls = native().calls
    const { serializer, level, maxValue, encryption, dictionaries, types, timeToIdle } = settings
    const { native: store, mapping } = handle.store
    try {
      const id = SERIALIZER_IDS[serializer]
      this.#native = store.namespace(
        [...parts],
        id,
        level,
        maxValue,
        encryption,
        dictionaries,
        timeToIdle,
      )
    } catch (failure) {
      throw typed(failure)
    }
    this.#number = this.#native.number
    this.#writers = new WriterPool(serializer, types)
    this.#memory = handle.memory
    this.#slotsByKey = handle.memory?.slotsOf(this.#key.prefix) ?? new Map()
    this.#reviving = { types, isClosed: () => handle.closed }
    this.#into = {
      number: this.#number,
      calls: this.#calls,
      serializer: SERIALIZER_IDS[serializer],
      scratch,
      writers: this.#writers,
      waitTimeout: handle.waitTimeout,
      maxValue,
      counts: handle.counts,
      begin: (key) => {
        this.#begin(key)
        return this.#key
      },
      finish: (value) => this.finish(value),
      take: (length) => this.#take(length),
      see: (key) => this.#see(key),
      forget: (key) => this.#forget(key),
      operated: () => handle.operated(),
      lifetime: settings.lifetime,
      locks: handle.locks,
    }
    const floor = () => this.#calls.floor(this.#number)
    // Making a cipher in JavaScript takes longer than the native part's whole read.
    if (mapping !== undefined && encryption === undefined) {
      this.#reader = new MappedReader(mapping, this.#key, scratch, maxValue, floor, handle.clock)
    }
  }

  at(parts: readonly string[]): HostNamespace {
    return new HostNamespace(this.handle, parts, this.settings)
  }

  get(key: Key): unknown {
    const value = this.find(key)
    if (value === undefined) {
      this.handle.counts.misses++
      this.handle.operated()
    }
    return value
  }

  find(key: Key): unknown {
    // Memory has nothing of a closed cache, and its keys are not bytes.
    const slot = this.#slotsByKey.get(key as string)
    if (slot === undefined) return this.#lookUp(key, true)
    const remembered = this.#memory?.read(slot)
    return remembered === undefined ? this.#lookUp(key, false) : remembered
  }

  /** What the host tier has. `isNew` if the memory tier had nothing of the key. */
  #lookUp(key: Key, isNew: boolean): unknown {
    const { handle } = this
    handle.check()
    this.#key.set(key)
    let origin: Origin | undefined = this.#reader
    let value = this.#reader === undefined ? ASK_NATIVE : this.#reader.get()
    if (value === ASK_NATIVE) {
      value = this.#getNatively()
      origin = asked
    }
    if (value === undefined) {
      this.#forget(key)
      return undefined
    }
    handle.counts.hits++
    // Reads of the mapping call nothing: the handle reports them, and looks whether the cache was replaced.
    handle.operated()
    if (value instanceof Unrevived) return this.#revive(key, value, origin as Origin, isNew)
    const memory = this.#memory
    if (memory === undefined) return value
    if (typeof key !== 'string') return memory.giveOnly(value)
    if (isNew && memory.turnsAway(origin as Origin)) return memory.giveOnly(value)
    return memory.remember(this.#slotsByKey, key, value, origin as Origin)
  }

  /** Like the end of `#lookUp`. */
  #revive(key: Key, found: Unrevived, origin: Origin, isNew: boolean): unknown {
    const memory = this.#memory
    if (memory === undefined || typeof key !== 'string') return this.finish(found)
    return memory.receive(this.#slotsByKey, key, found, origin, isNew, this.#reviving)
  }

  /** What is handed out of a value that was just decoded or loaded, and has no other owner. */
  finish(value: unknown): unknown {
    return finish(this.#memory, value, this.settings.types)
  }

  peek(key: Key): unknown {
    this.checkKey(key)
    const slot = this.#slotsByKey.get(key as string)
    const remembered = slot === undefined ? undefined : this.#memory?.peek(slot)
    if (remembered !== undefined) return remembered
    const found = this.#see(key)
    return found === undefined ? undefined : this.finish(found.value)
  }

  entry(key: Key): CacheEntry | undefined {
    let found: { value: unknown } | undefined
    do {
      found = this.#see(key)
      if (found === undefined) return undefined
      // Without a version it is gone.
    } while (!this.#hasVersion())
    // Read before the user's code runs, which may use the cache.
    const { created, expires, size, serializer, compressor, version } = seen
    const now = this.handle.clock?.() ?? Date.now()
    return {
      value: this.finish(found.value),
      ttl: expires === 0 ? Number.POSITIVE_INFINITY : Math.max(expires - now, 0),
      created,
      expires: expires === 0 ? undefined : expires,
      size,
      serializer: serializerName(serializer),
      compressor: compressor === 0 ? 'none' : 'zstd',
      version,
    }
  }

  /** Adds the version of the entry that was just seen to `seen`; false if it is gone. */
  #hasVersion(): boolean {
    const { bytes, from, to } = this.#key
    return guarded(() => this.#calls.version(this.#number, bytes, from, to, seen.words))
  }

  add(key: Key, value: unknown, options: SetOptions | undefined): boolean {
    this.checkKey(key)
    return add(this.#into, key, value, ttlOf(options, this.settings.lifetime))
  }

  replace(
    key: Key,
    value: unknown,
    options: SetOptions | undefined,
    version: bigint | undefined,
  ): boolean {
    this.checkKey(key)
    return replace(this.#into, key, value, ttlOf(options, this.settings.lifetime), version)
  }

  findToUpdate(key: Key): Found {
    return new HostFound(this.#into, key)
  }

  increment(key: Key, addend: Addend, ttl: number): bigint {
    return increment(this.#into, key, addend, ttl)
  }

  touch(key: Key, given: Duration | null | ExpiryOptions | undefined): boolean {
    this.checkKey(key)
    const ttl = ttlFrom(given, this.settings.lifetime)
    this.handle.setTime()
    const { bytes, from, to } = this.#key
    const touched = guarded(() => this.#calls.touch(this.#number, bytes, from, to, ttl))
    this.#forget(key)
    return touched
  }

  take(key: Key): unknown {
    const { counts } = this.handle
    for (;;) {
      const found = this.#see(key)
      if (found === undefined) {
        // A load under way is invalid, as by a delete. A value just loaded is taken.
        const { bytes, from, to } = this.#key
        if (!guarded(() => this.#calls.invalidateLoads(this.#number, bytes, from, to))) continue
        counts.misses++
        this.handle.operated()
        this.#forget(key)
        return undefined
      }
      const place = seen.words.slice()
      // It may run the user's code, which may use the cache: the key is set again.
      const value = this.finish(found.value)
      this.#begin(key)
      const { bytes, from, to } = this.#key
      if (!guarded(() => this.#calls.remove(this.#number, bytes, from, to, place))) continue
      counts.hits++
      counts.deletes++
      this.handle.operated()
      this.#forget(key)
      return value
    }
  }

  /** The key's value, not yet finished, without a use of the entry; its facts are in `seen`. */
  #see(key: Key): { value: unknown } | undefined {
    this.#begin(key)
    const { bytes, from, to } = this.#key
    for (;;) {
      const length = guarded(() =>
        this.#calls.peek(this.#number, bytes, from, to, scratch.bytes, seen.words),
      )
      if (length === MISS) return undefined
      if (length > scratch.bytes.length) {
        scratch.reserve(length)
        continue
      }
      seen.serializer = scratch.bytes[0]
      return { value: this.#take(length) }
    }
  }

  checkKey(key: Key): void {
    this.handle.check()
    this.#key.set(key)
  }

  prefetch(keys: readonly Key[]): void {
    prefetch(this.#into, keys, (key) => this.#slotsByKey.has(key as string))
  }

  #getNatively(): unknown {
    this.handle.setTime()
    const { bytes, from, to } = this.#key
    for (;;) {
      const length = this.#ask(bytes, from, to)
      if (length === MISS) return undefined
      if (length <= scratch.bytes.length) return this.#take(length)
      scratch.reserve(length)
    }
  }

  #ask(bytes: Uint8Array, from: number, to: number): number {
    try {
      return this.#calls.get(this.#number, bytes, from, to, scratch.bytes, asked.words)
    } catch (failure) {
      throw typed(failure)
    }
  }

  put(key: Key, value: unknown, options: SetOptions | undefined): void {
    this.checkKey(key)
    const { handle } = this
    const { use } = this.#key
    const ttl = ttlOf(options, this.settings.lifetime)
    const writer = this.#writers.take()
    try {
      const length = writer.write(value)
      this.#resume(key, use)
      const { bytes, from, to } = this.#key
      const measured = measure(writer, length, this.settings.maxValue)
      this.#calls.put(this.#number, bytes, from, to, writer.bytes, measured, ttl)
    } catch (failure) {
      throw typed(failure)
    } finally {
      this.#writers.give(writer)
    }
    handle.counts.writes++
    handle.operated()
    this.#forget(key)
  }

  /** What memory has of a key was superseded and will not be given to a reader: it is freed. */
  #forget(key: Key): void {
    if (typeof key === 'string') this.#memory?.forget(this.#slotsByKey, key)
  }

  /** Goes on with a key after a value was written: a getter of the value may have used the cache, or closed it. */
  #resume(key: Key, use: number): void {
    this.handle.check()
    this.handle.setTime()
    if (this.#key.use !== use) this.#key.set(key)
  }

  delete(key: Key): boolean {
    this.#begin(key)
    const { bytes, from, to } = this.#key
    const stood = guarded(() => this.#calls.delete(this.#number, bytes, from, to))
    if (stood) this.handle.counts.deletes++
    this.handle.operated()
    this.#forget(key)
    return stood
  }

  has(key: Key): boolean {
    const slot = this.#slotsByKey.get(key as string)
    if (slot !== undefined) {
      this.handle.check()
      if (this.#memory?.has(slot) === true) {
        return true
      }
    }
    return this.ttl(key) !== undefined
  }

  ttl(key: Key): number | undefined {
    this.#begin(key)
    const { bytes, from, to } = this.#key
    const left = guarded(() => this.#calls.ttl(this.#number, bytes, from, to))
    if (left === MISS) {
      this.handle.counts.misses++
      this.handle.operated()
      return undefined
    }
    this.handle.counts.hits++
    this.handle.operated()
    return left
  }

  load(key: Key): HostLoad {
    return new HostLoad(this.#into, key)
  }

  lock(key: Key): Lock {
    return new HostLock(this.#into, key)
  }

  /** The full key, a character a byte. */
  identity(key: Key): string {
    this.#key.set(key)
    const { bytes, to } = this.#key
    return Buffer.from(bytes.buffer, 0, to).toString('latin1')
  }

  copyOf(value: unknown): unknown {
    // All readers share one object then.
    return this.#memory?.shares ? value : copyOf(this.#into, value)
  }

  keys(prefix: Key): Generator<Key, void, undefined> {
    this.checkKey(prefix)
    const { bytes, from, to } = this.#key
    return this.#pages(bytes.slice(from, to))
  }

  *#pages(prefix: Uint8Array): Generator<Key, void, undefined> {
    let cursor: number | undefined = 0
    while (cursor !== undefined) {
      this.handle.check()
      this.handle.setTime()
      const from: number = cursor
      const page = guarded(() => this.#native.keys(prefix, from, PAGE))
      yield* page.keys.map(toKey)
      cursor = page.next
    }
  }

  clear(): void {
    this.handle.check()
    guarded(() => this.#native.clear())
  }

  path(): string {
    this.handle.check()
    return this.handle.store.native.path
  }

  holdings(): Holdings {
    this.handle.check()
    return guarded(() => this.handle.store.native.stats())
  }

  async check(): Promise<CheckReport> {
    this.handle.check()
    return this.handle.store.native.check().catch(rethrow)
  }

  async flush(): Promise<void> {
    this.handle.check()
    return this.handle.store.native.flush().catch(rethrow)
  }

  #begin(key: Key): void {
    this.checkKey(key)
    this.handle.setTime()
  }

  /** Decodes what the native part left in the scratch buffer: the serializer's id, then the payload. */
  #take(length: number): unknown {
    try {
      return readPayload(scratch.bytes[0], scratch, 1, length, this.settings.maxValue)
    } finally {
      scratch.trim()
    }
  }
}

function rethrow(failure: unknown): never {
  throw typed(failure)
}
