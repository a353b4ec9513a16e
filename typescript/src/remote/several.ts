import type { Several } from '../any-namespace.ts'
import { measure } from '../entry/weight.ts'
import { type Key, toKey } from '../key.ts'
import { type SetOptions, ttlOf } from '../options.ts'
import type { RemoteNamespace } from './namespace.ts'
import { asked, type Packed } from './native.ts'

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
    for (const key of keys) {
      const value = namespace.find(key)
      // In its place among the others, which may come later.
      found.set(key, value)
      if (value === undefined) missing.push(key)
    }
    if (missing.length > 0) {
      const values = await asked(namespace.calls.getMany(...this.#packed(missing)))
      for (const [at, value] of partsOf(values).entries()) {
        if (value !== undefined) found.set(missing[at], namespace.finish(namespace.decode(value)))
      }
    }
    for (const [key, value] of found) if (value === undefined) found.delete(key)
    return found
  }

  async set(
    entries: Iterable<readonly [Key, unknown]>,
    options: SetOptions | undefined,
  ): Promise<void> {
    const { settings, calls, number } = this.#namespace
    const pack = new Pack()
    const numbers: number[] = []
    let failure: { error: unknown } | undefined
    try {
      for (const [key, value] of entries) {
        this.#namespace.checkKey(key)
        const ttl = ttlOf(options, settings.lifetime)
        this.#namespace.written(value, (writer, length) => {
          const measured = measure(writer, length, settings.maxValue)
          this.#add(pack, key)
          pack.add(writer.bytes, 0, measured < 0 ? 0 : length)
          numbers.push(measured < 0 ? -measured : 0, ttl)
        })
      }
    } catch (error) {
      // Those before it are stored.
      failure = { error }
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

  async *keys(prefix: Key): AsyncGenerator<Key, void, undefined> {
    const { calls } = this.#namespace
    const found = await asked(calls.keys(...this.#namespace.at(prefix)))
    for (const key of partsOf(found)) yield toKey(key as Uint8Array)
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

/** What was packed; undefined for what is missing. */
function partsOf(packed: ArrayBuffer): (Uint8Array | undefined)[] {
  const view = new DataView(packed)
  const parts: (Uint8Array | undefined)[] = []
  let at = 0
  while (at < packed.byteLength) {
    const length = view.getUint32(at, true)
    at += 4
    if (length === MISSING) {
      parts.push(undefined)
      continue
    }
    parts.push(new Uint8Array(packed, at, length))
    at += length
  }
  return parts
}
