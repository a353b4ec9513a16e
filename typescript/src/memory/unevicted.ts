import type { Policy } from './policy.ts'
import { Queue } from './queue.ts'
import type { Slots } from './slots.ts'

/** Entries are not evicted: writers first look whether there is room. */
export class Unevicted implements Policy {
  readonly initial: number = 0
  /** In the order in which they came. */
  readonly #entries: Queue
  readonly #leave: (slot: number) => void

  constructor(slots: Slots<unknown, unknown>, leave: (slot: number) => void) {
    this.#entries = new Queue(slots)
    this.#leave = leave
  }

  arrive(): void {}

  /** For a caller that takes an entry out itself. */
  evict(): void {
    const slot = this.#entries.front
    this.#entries.remove(slot)
    this.#leave(slot)
  }

  add(slot: number): void {
    this.#entries.push(slot)
  }

  hit(): void {}

  remove(slot: number): void {
    this.#entries.remove(slot)
  }

  clear(): void {
    this.#entries.clear()
  }
}
