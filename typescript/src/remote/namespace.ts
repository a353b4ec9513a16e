import type {
  Addend,
  AwaitedNamespace,
  CacheEntry,
  CheckReport,
  Defaults,
  Holdings,
  Several,
} from '../any-namespace.ts'
import type { Duration } from '../duration.ts'
import type { Types } from '../entry/registered.ts'
import { Unrevived } from '../entry/revive.ts'
import { Scratch } from '../entry/scratch.ts'
import {
  type PayloadWriter,
  readPayload,
  SERIALIZER_IDS,
  type SerializerName,
  serializerName,
  WriterPool,
} from '../entry/serializer.ts'
import { measure } from '../entry/weight.ts'
import { guarded, typed } from '../host/native.ts'
import { type Key, KeyBuffer } from '../key.ts'
import type { MemoryOverRemote } from '../memory/over-remote.ts'
import { finish, type SlotsByKey } from '../memory/over-tier.ts'
import { namespacePrefix } from '../namespace.ts'
import { type ExpiryOptions, type SetOptions, ttlFrom, ttlOf } from '../options.ts'
import { type Asked, asked, type Use, used } from './answers.ts'
import { RemoteFound } from './found.ts'
import type { RemoteHandle } from './handle.ts'
import { RemoteLoad } from './load.ts'
import { RemoteLock } from './lock.ts'
import { type At, MISS, type NativeRemote, type RemoteOperations } from './native.ts'
import { RemoteOrigin } from './origin.ts'
import { RemoteSeveral } from './several.ts'

/** How a cache writes and reads its entries. */
export interface RemoteDefaults extends Defaults {
  readonly serializer: SerializerName
  /** Most bytes of a payload that is read. */
  readonly maxValue: number
  /** The registered types, if there are any. */
  readonly types: Types | undefined
}

/** Where payloads are decoded: see `host/namespace.ts`. */
const scratch = new Scratch()

/** Where the copy that was read last is. */
const origin = new RemoteOrigin()

/** What `entry` says before the payload: see `native/src/remote/reads.rs`. */
const FACTS = 48

/** A payload that was written, for the native call that follows at once. */
export type Call<R> = (at: At, payload: Uint8Array, measured: number) => Asked<R>

/** The operations on the keys of one namespace, on the way to a server. */
export class RemoteNamespace implements AwaitedNamespace {
  readonly handle: RemoteHandle
  readonly parts: readonly string[]
  readonly settings: RemoteDefaults
  readonly sleep: undefined
  readonly several: Several
  readonly calls: RemoteOperations
  readonly native: NativeRemote
  /** Its number, for the callbacks. */
  readonly number: number
  readonly #key: KeyBuffer
  readonly writers: WriterPool
  readonly #memory: MemoryOverRemote | undefined
  readonly #slotsByKey: SlotsByKey
  /** Decodes what the native part tells of. */
  readonly use: Use<unknown>
  /** And hands it out: at once, but for registered types, whose `decode` is the program's. */
  readonly #useAndFinish: Use<unknown>
  readonly #reviving: { readonly types: Types | undefined; readonly isClosed: () => boolean }

  constructor(handle: RemoteHandle, parts: readonly string[], settings: RemoteDefaults) {
    handle.check()
    this.handle = handle
    this.parts = parts
    this.settings = settings
    this.calls = handle.calls
    this.native = guarded(() => parts.reduce((outer, part) => outer.nested(part), handle.native))
    this.number = this.native.number
    this.#key = new KeyBuffer(namespacePrefix(parts))
    this.writers = new WriterPool(settings.serializer, settings.types)
    this.#memory = handle.memory
    this.#slotsByKey = handle.memory?.slotsOf(this.#key.prefix) ?? new Map()
    this.#reviving = { types: settings.types, isClosed: () => handle.closed }
    const { maxValue } = settings
    this.use = (room, from, to) => readPayload(room.bytes[from], room, from + 1, to, maxValue)
    this.#useAndFinish = (room, from, to) => {
      const value = this.use(room, from, to)
      if (!(value instanceof Unrevived)) return this.finish(value)
      return Promise.resolve(value).then((value) => this.finish(value))
    }
    this.several = new RemoteSeveral(this)
  }

  /** An object in memory or a copy on this host, at once. What has none is left to a load, or to `look`. */
  find(key: Key): unknown {
    // Memory has nothing of a closed cache, and its keys are not bytes.
    const slot = this.#slotsByKey.get(key as string)
    if (slot === undefined) return this.#findCopy(key, true)
    this.handle.setTime()
    const remembered = this.#memory?.read(slot)
    return remembered === undefined ? this.#findCopy(key, false) : remembered
  }

  /** `isNew` if the memory tier had nothing of the key. */
  #findCopy(key: Key, isNew: boolean): unknown {
    this.checkKey(key)
    this.handle.setTime()
    if (this.handle.readsThrough) {
      this.forget(key)
      return undefined
    }
    const { bytes, from, to } = this.#key
    for (;;) {
      const length = this.#near(bytes, from, to)
      if (length === MISS) {
        this.forget(key)
        return undefined
      }
      if (length <= scratch.bytes.length) return this.#receive(key, this.#take(length), isNew)
      scratch.reserve(length)
      // It is read again.
      this.handle.counts.hits--
    }
  }

  /** What the reader of a copy is given, which memory keeps if it is to. */
  #receive(key: Key, value: unknown, isNew: boolean): unknown {
    const memory = this.#memory
    if (memory === undefined || typeof key !== 'string') return this.finish(value)
    if (value instanceof Unrevived) {
      return memory.receive(this.#slotsByKey, key, value, origin, isNew, this.#reviving)
    }
    if (isNew && memory.turnsAway(origin)) return memory.giveOnly(value)
    return memory.remember(this.#slotsByKey, key, value, origin)
  }

  /** What memory has of a key is not served any more: it is freed. */
  forget(key: Key): void {
    if (typeof key === 'string') this.#memory?.forget(this.#slotsByKey, key)
  }

  #near(bytes: Uint8Array, from: number, to: number): number {
    try {
      return this.calls.near(this.number, bytes, from, to, scratch.bytes, origin.words)
    } catch (failure) {
      throw typed(failure)
    }
  }

  get(key: Key): unknown {
    const value = this.find(key)
    return value === undefined ? this.#ask() : value
  }

  /** Asks for the key that was just looked for. */
  #ask(): Promise<unknown> {
    const { bytes, from, to } = this.#key
    return this.#read(this.calls.get(this.number, bytes, from, to))
  }

  async look(key: Key): Promise<unknown> {
    const near = this.find(key)
    if (near !== undefined) return near
    const value = await this.#ask()
    // The load that follows counts the miss.
    if (value === undefined) this.native.foundLater()
    return value
  }

  async lookMany(keys: readonly Key[]): Promise<Map<unknown, unknown>> {
    const found = await this.several.get(keys)
    const names = new Set(keys.map((key) => this.identity(key)))
    const values = new Map([...found].map(([key, value]) => [this.identity(key), value]))
    for (let missed = names.size - values.size; missed > 0; missed--) this.native.foundLater()
    return values
  }

  peek(key: Key): Promise<unknown> {
    return this.#read(this.calls.peek(...this.at(key)))
  }

  async entry(key: Key): Promise<CacheEntry | undefined> {
    const bytes = await asked(this.calls.entry(...this.at(key)))
    if (bytes === undefined) return undefined
    const [created, expires, left, size, version, compressed] = new BigUint64Array(bytes, 0, 6)
    const serializer = serializerName(new Uint8Array(bytes)[FACTS])
    return {
      value: this.finish(this.decode(new Uint8Array(bytes, FACTS))),
      ttl: left === 2n ** 64n - 1n ? Number.POSITIVE_INFINITY : Number(left),
      created: Number(created),
      expires: expires === 0n ? undefined : Number(expires),
      size: Number(size),
      serializer,
      compressor: compressed === 0n ? 'none' : 'zstd',
      version,
    }
  }

  put(key: Key, value: unknown, options: SetOptions | undefined): Promise<void> {
    const use = this.checkKey(key)
    const ttl = ttlOf(options, this.settings.lifetime)
    const writer = this.writers.take()
    try {
      const length = writer.write(value)
      const measured = measure(writer, length, this.settings.maxValue)
      // A getter of the value may have used the cache.
      const { bytes, from, to } = this.stillAt(key, use)
      return asked(this.calls.set(this.number, bytes, from, to, writer.bytes, measured, ttl))
    } finally {
      this.writers.give(writer)
    }
  }

  add(key: Key, value: unknown, options: SetOptions | undefined): Promise<boolean> {
    this.checkKey(key)
    const ttl = ttlOf(options, this.settings.lifetime)
    return this.write(key, value, (at, ...payload) => this.calls.add(...at, ...payload, ttl))
  }

  replace(
    key: Key,
    value: unknown,
    options: SetOptions | undefined,
    version: bigint | undefined,
  ): Promise<boolean> {
    this.checkKey(key)
    const { calls } = this
    const ttl = ttlOf(options, this.settings.lifetime)
    return this.write(key, value, (at, ...payload) =>
      version === undefined
        ? calls.replace(...at, ...payload, ttl)
        : calls.compareAndSet(...at, ...payload, ttl, BigUint64Array.of(version)),
    )
  }

  touch(key: Key, given: Duration | null | ExpiryOptions | undefined): Promise<boolean> {
    this.checkKey(key)
    const ttl = ttlFrom(given, this.settings.lifetime)
    return asked(this.calls.touch(...this.at(key), ttl))
  }

  async findToUpdate(key: Key): Promise<RemoteFound> {
    const [place, bytes] = await asked(this.calls.find(...this.at(key)))
    const value = bytes && this.finish(this.decode(new Uint8Array(bytes)))
    return new RemoteFound(this, key, place, value)
  }

  async increment(key: Key, addend: Addend, ttl: number): Promise<bigint> {
    const { by, initial, subtracts } = addend
    const integers = BigUint64Array.of(by, initial)
    const sum = this.calls.increment(...this.at(key), ttl, integers, subtracts ? 1 : 0)
    return new BigInt64Array(await asked(sum))[0]
  }

  async take(key: Key): Promise<unknown> {
    for (;;) {
      // By an update, because the value may be refused by the `decode` of a registered type: then the entry stays.
      const found = await this.findToUpdate(key)
      if (!(await found.delete())) continue
      this.handle.native.countTaken(found.value !== undefined)
      return found.value
    }
  }

  delete(key: Key): Promise<boolean> {
    const { bytes, from, to } = this.#ready(key)
    const deleted = asked(this.calls.delete(this.number, bytes, from, to))
    this.forget(key)
    return deleted
  }

  has(key: Key): Promise<boolean> {
    const { bytes, from, to } = this.#ready(key)
    return asked(this.calls.has(this.number, bytes, from, to))
  }

  ttl(key: Key): Promise<number | undefined> {
    const { bytes, from, to } = this.#ready(key)
    return asked(this.calls.ttl(this.number, bytes, from, to))
  }

  clear(): Promise<void> {
    this.handle.check()
    return asked(this.calls.clear(this.number))
  }

  load(key: Key): RemoteLoad {
    return new RemoteLoad(this, key)
  }

  lock(key: Key): RemoteLock {
    return new RemoteLock(this, key)
  }

  /** Which use of the buffer for keys that was. */
  checkKey(key: Key): number {
    this.handle.check()
    this.#key.set(key)
    return this.#key.use
  }

  /** Where a key is that was there at that use, for a native call that follows at once. */
  stillAt(key: Key, use: number): KeyBuffer {
    this.handle.setTime()
    if (this.#key.use !== use) this.checkKey(key)
    return this.#key
  }

  /** The full key, a character a byte. */
  identity(key: Key): string {
    this.#key.set(key)
    const { bytes, to } = this.#key
    return Buffer.from(bytes.buffer, 0, to).toString('latin1')
  }

  copyOf(value: unknown): unknown {
    // All readers share one object then.
    if (this.#memory?.shares) return value
    const writer = this.writers.take()
    try {
      const length = writer.write(value)
      return this.finish(this.read(writer.bytes.slice(0, length)))
    } catch {
      return value
    } finally {
      this.writers.give(writer)
    }
  }

  path(): string | undefined {
    this.handle.check()
    return this.native.path || undefined
  }

  holdings(): Holdings {
    this.handle.check()
    return guarded(() => this.native.stats()).holdings
  }

  check(): Promise<CheckReport> {
    this.handle.check()
    return asked(this.calls.check(this.number))
  }

  flush(): Promise<void> {
    this.handle.check()
    return asked(this.calls.flush(this.number))
  }

  /**
   * Where the key is, for a native call that follows at once.
   * @throws InvalidKey, Closed
   */
  at(key: Key): At {
    const { bytes, from, to } = this.#ready(key)
    return [this.number, bytes, from, to]
  }

  #ready(key: Key): KeyBuffer {
    this.checkKey(key)
    this.handle.setTime()
    return this.#key
  }

  /** What is handed out of a value that was just decoded or loaded. */
  finish(value: unknown): unknown {
    return finish(this.#memory, value, this.settings.types)
  }

  /** The same, also after the cache was closed. */
  within<R>(key: Key, call: (at: At) => R): R {
    this.#key.set(key)
    const { bytes, from, to } = this.#key
    return call([this.number, bytes, from, to])
  }

  /** Writes a value for a native call. */
  async write<R>(key: Key, value: unknown, call: Call<R>): Promise<R> {
    return this.written(value, (writer, length) => this.send(key, writer, length, call))
  }

  /** Makes a native call with what was written, which it copies. */
  send<R>(key: Key, writer: PayloadWriter, length: number, call: Call<R>): Promise<R> {
    const measured = measure(writer, length, this.settings.maxValue)
    return asked(call(this.at(key), writer.bytes, measured))
  }

  /** Calls a function with a value's payload, which is there until the function returns. */
  written<R>(value: unknown, use: (writer: PayloadWriter, length: number) => R): R {
    const writer = this.writers.take()
    try {
      // A getter of the value may use the cache.
      return use(writer, writer.write(value))
    } finally {
      this.writers.give(writer)
    }
  }

  /** Decodes what the native part handed out: the serializer's id, then the payload. */
  decode(bytes: Uint8Array): unknown {
    scratch.reserve(bytes.length)
    scratch.bytes.set(bytes)
    return this.#take(bytes.length)
  }

  /** Decodes a payload of the cache's own serializer. */
  read(payload: Uint8Array): unknown {
    scratch.reserve(payload.length)
    scratch.bytes.set(payload)
    const id = SERIALIZER_IDS[this.settings.serializer]
    try {
      return readPayload(id, scratch, 0, payload.length, Number.POSITIVE_INFINITY)
    } finally {
      scratch.trim()
    }
  }

  #read(call: Asked<ArrayBuffer | undefined>): Promise<unknown> {
    return used(call, this.#useAndFinish)
  }

  #take(length: number): unknown {
    try {
      return readPayload(scratch.bytes[0], scratch, 1, length, this.settings.maxValue)
    } finally {
      scratch.trim()
    }
  }
}
