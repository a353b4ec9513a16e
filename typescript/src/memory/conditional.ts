import type { Addend, Found } from '../any-namespace.ts'
import { fits } from '../count.ts'
import { IntegerOverflow, WrongType } from '../errors.ts'
import type { Lifetime } from '../lifetime.ts'
import type { MemoryHandle } from './handle.ts'
import type { NamedEntries } from './named-entries.ts'

type StoreIf = (
  name: string,
  value: unknown,
  ttl: number | undefined,
  stands: () => boolean,
) => boolean

/** What an update found where there is no directory. */
export class MemoryFound implements Found {
  readonly value: unknown
  readonly #name: string
  readonly #handle: MemoryHandle
  readonly #entries: NamedEntries
  readonly #lifetime: Lifetime
  readonly #storeIf: StoreIf
  /** Undefined where there was no entry. */
  readonly #version: number | undefined

  constructor(
    name: string,
    handle: MemoryHandle,
    entries: NamedEntries,
    lifetime: Lifetime,
    storeIf: StoreIf,
  ) {
    this.#name = name
    this.#handle = handle
    this.#entries = entries
    this.#lifetime = lifetime
    this.#storeIf = storeIf
    // First: a copy of the value may be the work of the user's code, which may use the cache.
    this.#version = entries.version(name)
    this.value = this.#version === undefined ? undefined : entries.peek(name)
  }

  set(value: unknown, ttl: number | undefined): unknown {
    const kept = this.#version === undefined ? this.#lifetime.next() : undefined
    const stands = () => this.#stands()
    if (!this.#storeIf(this.#name, value, ttl ?? kept, stands)) return undefined
    const { core } = this.#handle
    return core.keeper.converted ? core.copyOf(value)() : value
  }

  delete(): boolean {
    this.#handle.check()
    if (!this.#stands()) return false
    this.#entries.loads.delete(this.#name)
    if (this.#entries.delete(this.#name)) this.#handle.counts.deletes++
    return true
  }

  #stands(): boolean {
    return this.#entries.version(this.#name) === this.#version
  }
}

/**
 * The sum for a key that has this value, or none.
 * @throws WrongType, IntegerOverflow
 */
export function count(there: unknown, { by, initial, subtracts }: Addend): bigint {
  const from = there === undefined ? initial : integer(there)
  const sum = subtracts ? from - by : from + by
  if (fits(from) && fits(sum)) return sum
  throw new IntegerOverflow(
    'the integer would not fit 64 bits with a sign (-2^63 to 2^63 - 1); nothing was stored',
  )
}

function integer(value: unknown): bigint {
  if (typeof value === 'bigint') return value
  // Minus zero is none.
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return BigInt(value as number)
  throw new WrongType('$', 'only an integer can be counted up and down')
}
