import type { Bounds, Policy, PolicyMaker } from './policy.ts'
import { ORDERED, type Slots, VISITED } from './slots.ts'

/** What the owner of the keys does when an entry is evicted: its key is to lead nowhere. The slot still holds it. */
export type Evicted = (slot: number) => void

/** Entries within bounds: columns, a policy, and what they weigh. Keys are looked up by others, who go by slots here. */
export class Store<K, V> {
  readonly slots: Slots<K, V>
  readonly bounds: Bounds
  /** Entries. */
  live = 0
  /** Bytes that they weigh. */
  weight = 0
  readonly #policy: Policy

  constructor(slots: Slots<K, V>, bounds: Bounds, policy: PolicyMaker, evicted: Evicted) {
    this.slots = slots
    this.bounds = bounds
    this.#policy = policy(slots as Slots<unknown, unknown>, (slot) => {
      evicted(slot)
      this.#free(slot)
    })
  }

  /**
   * Stores a value, no heavier than the bound; `found` is the slot of the key's entry if there is one. Returns the slot that
   * the key has to lead to now.
   */
  put(found: number | undefined, key: K, value: V, weight: number, flags: number): number {
    return found === undefined
      ? this.#add(key, value, weight, flags)
      : this.#replace(found, key, value, weight, flags)
  }

  /** A new entry, no heavier than the bound, after others made room for it. `flags` are for its state. */
  #add(key: K, value: V, weight: number, flags: number): number {
    const policy = this.#policy
    const full = this.#isFull(weight)
    policy.arrive(key, full)
    if (full) while (this.#isFull(weight)) policy.evict()
    const slot = this.slots.take(key, value)
    this.slots.state[slot] = policy.initial | flags
    this.slots.weights[slot] = weight
    this.weight += weight
    this.live++
    policy.add(slot)
    return slot
  }

  /** Another value for an entry. */
  #replace(slot: number, key: K, value: V, weight: number, flags: number): number {
    const { slots } = this
    const more = weight - slots.weights[slot]
    if (more > 0 && this.weight + more > this.bounds.maxBytes) {
      // It might otherwise be evicted to make room for itself. The key stays in the index: it gets a slot again at
      // once.
      this.remove(slot)
      return this.#add(key, value, weight, flags)
    }
    slots.values[slot] = value
    slots.weights[slot] = weight
    this.weight += more
    const isOrdered = (slots.state[slot] & ORDERED) !== 0
    if (isOrdered) this.#policy.hit(slot)
    // Never both: the policy is not told of what is VISITED.
    slots.state[slot] = (isOrdered ? ORDERED : VISITED) | flags
    return slot
  }

  /** Counts what an entry has come to weigh, no more than the bound. Where that is too much, others leave, or it does. */
  reweigh(slot: number, weight: number): void {
    this.weight += weight - this.slots.weights[slot]
    this.slots.weights[slot] = weight
    while (this.weight > this.bounds.maxBytes) this.evict()
  }

  /** Tells the policy that an entry was used. */
  visit(slot: number): void {
    const { state } = this.slots
    if ((state[slot] & ORDERED) !== 0) this.#policy.hit(slot)
    else state[slot] |= VISITED
  }

  /** Removes an entry whose key leads nowhere any more, and frees its slot. */
  remove(slot: number): void {
    this.#policy.remove(slot)
    this.#free(slot)
  }

  /** Takes everything out. The index is the caller's to clear. */
  clear(): void {
    this.live = this.weight = 0
    this.#policy.clear()
    this.slots.clear()
  }

  /** Whether an entry that weighs so much has room; `found` is the one that it takes the place of. */
  hasRoom(found: number | undefined, weight: number): boolean {
    if (found === undefined) return !this.#isFull(weight)
    return this.weight - this.slots.weights[found] + weight <= this.bounds.maxBytes
  }

  /** Whether something has to leave before another entry comes in that weighs as much as these do on average. */
  get isCrowded(): boolean {
    const { live, bounds } = this
    if (live >= bounds.maxEntries) return true
    return live > 0 && this.weight + this.weight / live > bounds.maxBytes
  }

  /** Lets the next entry leave. */
  evict(): void {
    const before = this.live
    while (this.live === before) this.#policy.evict()
  }

  /** Whether the policy goes by the last use. */
  get isByUse(): boolean {
    return this.#policy.byUse !== undefined
  }

  /** All slots, the one that was used last first, where the policy goes by that. */
  byUse(): number[] {
    return this.#policy.byUse?.() ?? []
  }

  #isFull(weight: number): boolean {
    return this.live >= this.bounds.maxEntries || this.weight + weight > this.bounds.maxBytes
  }

  #free(slot: number): void {
    this.weight -= this.slots.weights[slot]
    this.live--
    this.slots.free(slot)
  }
}
