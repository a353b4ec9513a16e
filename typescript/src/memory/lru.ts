import type { Policy } from './policy.ts'
import { Queue } from './queue.ts'
import { ORDERED, type Slots } from './slots.ts'

/** Evicts the entry that was used longest ago. */
export class Lru implements Policy {
  readonly initial: number = ORDERED
  /** Least recently used first. */
  readonly #used: Queue
  readonly #leave: (slot: number) => void

  constructor(slots: Slots<unknown, unknown>, leave: (slot: number) => void) {
    this.#used = new Queue(slots)
    this.#leave = leave
  }

  arrive(): void {}

  evict(): void {
    const slot = this.#used.front
    this.#used.remove(slot)
    this.#leave(slot)
  }

  add(slot: number): void {
    this.#used.push(slot)
  }

  hit(slot: number): void {
    this.#used.requeue(slot)
  }

  remove(slot: number): void {
    this.#used.remove(slot)
  }

  clear(): void {
    this.#used.clear()
  }

  byUse(): number[] {
    return this.#used.toArray().reverse()
  }
}
