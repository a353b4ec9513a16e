import type { Addend, Found } from '../any-namespace.ts'
import { measure } from '../entry/weight.ts'
import type { Key } from '../key.ts'
import { type LoadedInto, read } from './load.ts'
import { guarded, typed, type Write } from './native.ts'
import { seen } from './origin.ts'

/** What has to hold, and the words that say so. */
type Condition = readonly [
  name: 'add' | 'replace' | 'compareAndSet' | 'exchange',
  words?: BigUint64Array,
]

const ABSENT: Condition = ['add']
const PRESENT: Condition = ['replace']

/**
 * Stores a value if a condition holds. Returns what makes the value as `get` gives it; undefined if nothing was stored.
 * After an error nothing has changed.
 */
function write(
  into: LoadedInto,
  key: Key,
  value: unknown,
  ttl: number,
  [name, words]: Condition,
): (() => unknown) | undefined {
  const { calls, number, counts, writers, finish } = into
  const store = calls[name] as (...write: [...Write, BigUint64Array?]) => boolean
  const writer = writers.take()
  try {
    const length = writer.write(value)
    // A getter of the value may have used the cache, or closed it.
    const { bytes, from, to } = into.begin(key)
    const measured = measure(writer, length, into.maxValue)
    if (!store(number, bytes, from, to, writer.bytes, measured, ttl, words)) return undefined
    counts.writes++
    into.operated()
    into.forget(key)
    if (!writer.converted) return () => finish(value)
    const payload = writer.bytes.slice(0, length)
    return () => finish(read(into, payload))
  } catch (failure) {
    throw typed(failure)
  } finally {
    writers.give(writer)
  }
}

/** Stores a value if the key has no entry; whether it did. */
export function add(into: LoadedInto, key: Key, value: unknown, ttl: number): boolean {
  return write(into, key, value, ttl, ABSENT) !== undefined
}

/** Stores a value if the key has an entry, of this version if one is given; whether it did. */
export function replace(
  into: LoadedInto,
  key: Key,
  value: unknown,
  ttl: number,
  version: bigint | undefined,
): boolean {
  const condition: Condition =
    version === undefined ? PRESENT : ['compareAndSet', BigUint64Array.of(version)]
  return write(into, key, value, ttl, condition) !== undefined
}

/** What an update found in a directory. */
export class HostFound implements Found {
  readonly value: unknown
  readonly #into: LoadedInto
  readonly #key: Key
  /** What `peek` said of the entry; undefined where there was none. */
  readonly #place: BigUint64Array | undefined
  /** When the entry's time to live ends; 0 is never. */
  readonly #ends: number

  constructor(into: LoadedInto, key: Key) {
    this.#into = into
    this.#key = key
    const found = into.see(key)
    this.#place = found && seen.words.slice()
    this.#ends = found === undefined ? 0 : seen.ends
    // Last: it may run the user's code, which may use the cache.
    this.value = found && into.finish(found.value)
  }

  set(value: unknown, ttl: number | undefined): unknown {
    const place = this.#place
    const kept = place === undefined ? this.#into.lifetime.next() : -this.#ends
    const condition: Condition = place === undefined ? ABSENT : ['exchange', place]
    return write(this.#into, this.#key, value, ttl ?? kept, condition)?.()
  }

  delete(): boolean {
    const { calls, number, counts, begin, forget } = this.#into
    const { bytes, from, to } = begin(this.#key)
    const place = this.#place
    const deleted = guarded(() =>
      place === undefined
        ? calls.invalidateLoads(number, bytes, from, to)
        : calls.remove(number, bytes, from, to, place),
    )
    if (!deleted) return false
    if (place !== undefined) counts.deletes++
    this.#into.operated()
    forget(this.#key)
    return true
  }
}

/** By and initial, then the sum. */
const integers = new BigUint64Array(2)

/** Adds to the key's integer and returns the sum. */
export function increment(into: LoadedInto, key: Key, addend: Addend, ttl: number): bigint {
  const { calls, number, counts } = into
  const { bytes, from, to } = into.begin(key)
  integers[0] = addend.by
  integers[1] = addend.initial
  const subtracts = addend.subtracts ? 1 : 0
  guarded(() => calls.increment(number, bytes, from, to, ttl, integers, subtracts))
  counts.writes++
  into.operated()
  into.forget(key)
  return BigInt.asIntN(64, integers[0])
}
