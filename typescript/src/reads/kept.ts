import { whenGrown } from '../http/growth.ts'
import { Representation } from '../http/representation.ts'
import type { ResolvedMemory } from '../memory/options.ts'
import { TierSlots } from '../memory/over-tier.ts'
import { VISITED } from '../memory/slots.ts'
import { Store } from '../memory/store.ts'
import type { RemoteOperations } from '../remote/native.ts'
import { unpack } from './packed.ts'

/** A reply of which each caller gets a copy of its own: its bytes. */
class Copied {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

/** Bytes that an entry takes beside its value and its name, roughly. */
const OVERHEAD = 200

/** Replies in the memory of this process, each served while a read on this host would find it. */
export class KeptReplies {
  readonly #calls: RemoteOperations
  readonly #reads: number
  readonly #slots = new TierSlots()
  readonly #store: Store<string, unknown>
  readonly #byCall = new Map<string, number>()
  readonly #options: ResolvedMemory

  constructor(calls: RemoteOperations, reads: number, options: ResolvedMemory) {
    this.#calls = calls
    this.#reads = reads
    this.#options = options
    this.#store = new Store(this.#slots, options.bounds, options.policy, (slot) => {
      this.#byCall.delete(this.#slots.keys[slot])
    })
  }

  /** What may be served for a call; undefined if nothing. */
  get(call: string): unknown {
    const slot = this.#byCall.get(call)
    if (slot === undefined || !this.#calls.readStands(this.#reads, slot)) return undefined
    if ((this.#slots.state[slot] & VISITED) === 0) this.#store.visit(slot)
    return handedOut(this.#slots.values[slot])
  }

  /** Whether callers can only be kept from one another's changes to a reply by its bytes. */
  needsBytes(value: unknown): boolean {
    return !isFrozen(value) && !(this.#options.isolation === 'freeze' && isFreezable(value))
  }

  /**
   * What every caller gets of a reply: one frozen object for all, where it has a frozen form, else copies; what has no
   * bytes as it is.
   */
  isolate(value: unknown, packed: Buffer | undefined): unknown {
    const { isolation } = this.#options
    if (isolation === 'none' || isFrozen(value)) return value
    if (isolation === 'freeze' && isFreezable(value)) return freeze(value)
    return packed ? new Copied(Buffer.from(packed)) : value
  }

  /** Keeps what the native part found last, as `isolate` gave it. */
  put(call: string, kept: unknown, bytes: number): void {
    const weight = weigh(call, bytes)
    const found = this.#byCall.get(call)
    if (weight > this.#options.bounds.maxBytes) {
      if (found !== undefined) this.#remove(call, found)
      return
    }
    if (kept instanceof Representation) whenGrown(kept, () => this.#grown(call, kept))
    const slot = this.#store.put(found, call, kept, weight, 0)
    this.#byCall.set(call, slot)
    this.#calls.readKeep(this.#reads, slot)
  }

  /** What is made of a representation that is kept counts, too. */
  #grown(call: string, representation: Representation): void {
    const slot = this.#byCall.get(call)
    if (slot === undefined || this.#slots.values[slot] !== representation) return
    const weight = weigh(call, representation.held)
    if (weight > this.#options.bounds.maxBytes) this.#remove(call, slot)
    else this.#store.reweigh(slot, weight)
  }

  #remove(call: string, slot: number): void {
    this.#byCall.delete(call)
    this.#store.remove(slot)
  }

  clear(): void {
    this.#byCall.clear()
    this.#store.clear()
  }
}

function weigh(call: string, bytes: number): number {
  return bytes + 2 * call.length + OVERHEAD
}

/** What a caller gets of what `isolate` gave. */
export function handedOut(kept: unknown): unknown {
  return kept instanceof Copied ? unpack(kept.bytes) : kept
}

function isFrozen(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function isFreezable(value: unknown): boolean {
  try {
    return isPlain(value)
  } catch {
    // It nests too deeply.
    return false
  }
}

function isPlain(value: unknown): boolean {
  if (isFrozen(value)) return true
  if (Array.isArray(value)) return value.every(isPlain)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return false
  return Object.values(value as object).every(isPlain)
}

function freeze<T>(value: T): T {
  if (isFrozen(value)) return value
  for (const one of Object.values(value as object)) freeze(one)
  return Object.freeze(value)
}
