import type { Several } from '../any-namespace.ts'
import { fastBuffer } from '../entry/fast-buffer.ts'
import { Unrevived } from '../entry/revive.ts'
import { readText, type TextRoom } from '../entry/text.ts'
import { measure } from '../entry/weight.ts'
import type { Key } from '../key.ts'
import { oneByOne } from '../one-by-one.ts'
import { type SetOptions, ttlOf } from '../options.ts'
import { asked, used } from './answers.ts'
import type { RemoteNamespace } from './namespace.ts'
import type { Packed } from './native.ts'

/** What stands for the length of a value that is missing. */
const MISSING = 0xffff_ffff

/** Bytes that are copied one by one. */
const SMALL = 64

/** Operations on several keys, each by one call of the native part. */
export class RemoteSeveral implements Several {
  readonly #namespace: RemoteNamespace

  constructor(namespace: RemoteNamespace) {
    this.#namespace = namespace
  }

  async get<K extends Key>(keys: Iterable<K>): Promise<Map<K, unknown>> {
    const namespace = this.#namespace
    const found = new Map<K, unknown>()
    const missing: K[] = []
    const hasCopies = !namespace.handle.readsThrough
    for (const key of keys) {
      const value = hasCopies ? namespace.find(key) : undefined
      // In its place among the others, which may come later.
      found.set(key, value)
      if (value === undefined) missing.push(key)
    }
    if (missing.length > 0 && (await this.#ask(missing, found)) === missing.length) return found
    for (const [key, value] of found) if (value === undefined) found.delete(key)
    return found
  }

  /** Asks for keys, and adds what was found; of how many. */
  async #ask<K extends Key>(keys: readonly K[], found: Map<K, unknown>): Promise<number> {
    const namespace = this.#namespace
    // Their `decode` is the program's: not while the answer's room is in use.
    const unrevived: [K, Unrevived][] = []
    let count = 0
    await used(namespace.calls.getMany(...this.#packed(keys)), (room, from, to) => {
      for (let at = from, number = 0; at < to; number++) {
        const length = room.view.getUint32(at, true)
        at += 4
        if (length === MISSING) continue
        const value = namespace.use(room, at, at + length)
        at += length
        count++
        if (value instanceof Unrevived) unrevived.push([keys[number], value])
        else found.set(keys[number], namespace.finish(value))
      }
    })
    for (const [key, value] of unrevived) found.set(key, namespace.finish(value))
    return count
  }

  async set(
    entries: Iterable<readonly [Key, unknown]>,
    options: SetOptions | undefined,
  ): Promise<void> {
    const { settings, calls, number, writers } = this.#namespace
    const pack = new Pack()
    const numbers: number[] = []
    let failure: { error: unknown } | undefined
    // One for all of them: a getter of a value that uses the cache takes another.
    const writer = writers.take()
    try {
      for (const [key, value] of entries) {
        const at = this.#namespace.checkKey(key)
        const ttl = ttlOf(options, settings.lifetime)
        const length = writer.write(value)
        const measured = measure(writer, length, settings.maxValue)
        const { bytes, from, to } = this.#namespace.stillAt(key, at)
        pack.add(bytes, from, to)
        pack.add(writer.bytes, 0, measured < 0 ? 0 : length)
        numbers.push(measured < 0 ? -measured : 0, ttl)
      }
    } catch (error) {
      // Those before it are stored.
      failure = { error }
    } finally {
      writers.give(writer)
    }
    const all = Float64Array.from(numbers)
    await asked(calls.setMany(number, pack.bytes, pack.length, all))
    if (failure !== undefined) throw failure.error
  }

  async delete(keys: Iterable<Key>): Promise<number> {
    return asked(this.#namespace.calls.deleteMany(...this.#packed(keys)))
  }

  async deletePrefix(prefix: Key): Promise<number> {
    return asked(this.#namespace.calls.deletePrefix(...this.#namespace.at(prefix)))
  }

  keys(prefix: Key): AsyncIterableIterator<Key, void> {
    return oneByOne(async () => {
      const { calls } = this.#namespace
      return keysOf(await asked(calls.keys(...this.#namespace.at(prefix))))
    })
  }

  #packed(keys: Iterable<Key>): Packed {
    const pack = new Pack()
    for (const key of keys) this.#add(pack, key)
    return [this.#namespace.number, pack.bytes, pack.length]
  }

  #add(pack: Pack, key: Key): void {
    const [, bytes, from, to] = this.#namespace.at(key)
    pack.add(bytes, from, to)
  }
}

/** Bytes one behind the other, each behind its length in four bytes, little-endian. */
class Pack {
  bytes: Uint8Array = new Uint8Array(1024)
  length = 0

  add(bytes: Uint8Array, from: number, to: number): void {
    const size = to - from
    const end = this.length + 4 + size
    if (end > this.bytes.length) {
      const larger = new Uint8Array(Math.max(end, this.bytes.length * 2))
      larger.set(this.bytes.subarray(0, this.length))
      this.bytes = larger
    }
    const target = this.bytes
    let at = this.length
    for (let rest = size, count = 0; count < 4; count++, rest >>>= 8) target[at++] = rest
    // A view of a few bytes costs more than they do.
    if (size <= SMALL) for (let one = from; one < to; one++) target[at++] = bytes[one] as number
    else target.set(bytes.subarray(from, to), at)
    this.length = end
  }
}

/** The keys that were packed, each made when its turn comes: there may be many. */
function* keysOf(packed: ArrayBuffer): Generator<Key, void> {
  const room = { bytes: new Uint8Array(packed), buffer: fastBuffer(packed) }
  const view = new DataView(packed)
  for (let at = 0; at < packed.byteLength; ) {
    const from = at + 4
    at = from + view.getUint32(at, true)
    yield keyIn(room, from, at)
  }
}

/** Text where the bytes are UTF-8. */
function keyIn(room: TextRoom, from: number, to: number): Key {
  try {
    return readText(room, from, to)
  } catch {
    return room.bytes.slice(from, to)
  }
}
