import type { Bounds, Policy, PolicyMaker } from './policy.ts'
import { GHOST, ORDERED, type Slots, VISITED } from './slots.ts'

/** Who looks keys up, and wants to know what becomes of their slots. */
export interface Index {
  /** An entry is evicted; its slot still holds key and value. */
  evicted(slot: number): void
  /** The slot's key leads nowhere any more. */
  drop(slot: number): void
}

/** Entries within bounds: columns, a policy, and what they weigh. Keys are looked up by others, who go by slots here. */
export class Store<K, V, O = unknown> {
  readonly slots: Slots<K, V, O>
  readonly bounds: Bounds
  /** Entries. */
  live = 0
  /** Bytes that they weigh. */
  weight = 0
  /** Keys without a value that the policy remembers. They have slots, and are looked up like others. */
  ghosts = 0
  readonly #policy: Policy
  readonly #index: Index

  constructor(slots: Slots<K, V, O>, bounds: Bounds, policy: PolicyMaker, index: Index) {
    this.slots = slots
    this.bounds = bounds
    this.#policy = policy(slots as unknown as Slots<unknown, unknown>, bounds)
    this.#index = index
  }

  /**
   * Stores a value that is no heavier than the bound, after others made room for it. `slot` is what the key leads to, if it
   * does; `flags` are for the state. Returns the slot that the key has to lead
   * to now.
   */
  put(slot: number | undefined, owner: O, key: K, value: V, weight: number, flags: number): number {
    if (slot === undefined) return this.#add(owner, key, value, weight, flags)
    if ((this.slots.state[slot] & GHOST) !== 0) return this.#readmit(slot, value, weight, flags)
    if (this.weight - this.slots.weights[slot] + weight > this.bounds.maxBytes) {
      // It might have to make room for itself. The key stays in the index: it has a slot again at once.
      this.#policy.remove(slot)
      this.#leave(slot)
      this.slots.free(slot)
      return this.#add(owner, key, value, weight, flags)
    }
    return this.#replace(slot, value, weight, flags)
  }

  #add(owner: O, key: K, value: V, weight: number, flags: number): number {
    this.#makeRoom(weight)
    const slot = this.slots.take(key, value, owner)
    this.#enter(slot, weight, flags)
    this.#policy.add(slot)
    return slot
  }

  #readmit(slot: number, value: V, weight: number, flags: number): number {
    this.#policy.recall(slot)
    this.ghosts--
    this.#makeRoom(weight)
    this.slots.values[slot] = value
    this.#enter(slot, weight, flags)
    this.#policy.readmit(slot)
    return slot
  }

  #replace(slot: number, value: V, weight: number, flags: number): number {
    const { slots } = this
    slots.values[slot] = value
    this.weight += weight - slots.weights[slot]
    slots.weights[slot] = weight
    const isOrdered = (slots.state[slot] & ORDERED) !== 0
    if (isOrdered) this.#policy.hit(slot)
    // Never both: what is VISITED is told to the policy no more.
    slots.state[slot] = (isOrdered ? ORDERED : VISITED) | flags
    return slot
  }

  /** Tells the policy that an entry was used. */
  visit(slot: number): void {
    const { state } = this.slots
    if ((state[slot] & ORDERED) !== 0) this.#policy.hit(slot)
    else state[slot] |= VISITED
  }

  /** Takes an entry out and frees its slot. */
  remove(slot: number): void {
    this.#policy.remove(slot)
    this.#leave(slot)
    this.#index.drop(slot)
    this.slots.free(slot)
  }

  /** Takes everything out. The index is the caller's to clear. */
  clear(): void {
    this.live = this.weight = this.ghosts = 0
    this.#policy.clear()
    this.slots.clear()
  }

  #enter(slot: number, weight: number, flags: number): void {
    const { slots } = this
    slots.state[slot] = this.#policy.initial | flags
    slots.weights[slot] = weight
    this.weight += weight
    this.live++
  }

  #leave(slot: number): void {
    this.weight -= this.slots.weights[slot]
    this.live--
  }

  /** Room for one entry more. */
  #makeRoom(weight: number): void {
    const { maxEntries, maxBytes } = this.bounds
    while (this.live >= maxEntries || this.weight + weight > maxBytes) this.#evict()
  }

  #evict(): void {
    const { slots } = this
    const slot = this.#policy.evict()
    this.#leave(slot)
    this.#index.evicted(slot)
    if (slots.state[slot] !== GHOST) {
      this.#index.drop(slot)
      slots.free(slot)
      return
    }
    slots.values[slot] = undefined as V
    this.ghosts++
    for (let gone = this.#policy.forget(); gone >= 0; gone = this.#policy.forget()) {
      this.ghosts--
      this.#index.drop(gone)
      slots.free(gone)
    }
  }
}
