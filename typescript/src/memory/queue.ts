import type { Slots } from './slots.ts'

const NONE = -1

/** A queue of slots, linked through the columns: anything joins at the back or leaves from anywhere in the same short time. */
export class Queue {
  readonly #slots: Slots<unknown, unknown>
  /** Slots in it. */
  length = 0
  /** The one that waited longest, or -1. */
  front: number = NONE
  #back = NONE

  constructor(slots: Slots<unknown, unknown>) {
    this.#slots = slots
  }

  push(slot: number): void {
    const { next, previous } = this.#slots
    const back = this.#back
    next[slot] = NONE
    previous[slot] = back
    if (back === NONE) this.front = slot
    else next[back] = slot
    this.#back = slot
    this.length++
  }

  remove(slot: number): void {
    const { next, previous } = this.#slots
    const before = previous[slot]
    const after = next[slot]
    if (before === NONE) this.front = after
    else next[before] = after
    if (after === NONE) this.#back = before
    else previous[after] = before
    this.length--
  }

  /** Moves it to the back, where it may be already. */
  requeue(slot: number): void {
    if (slot === this.#back) return
    this.remove(slot)
    this.push(slot)
  }

  /** Its slots, the front first. */
  toArray(): number[] {
    const slots: number[] = []
    for (let slot = this.front; slot !== NONE; slot = this.#slots.next[slot]) slots.push(slot)
    return slots
  }

  clear(): void {
    this.length = 0
    this.front = this.#back = NONE
  }
}
