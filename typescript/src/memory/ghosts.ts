import { NO_HASH } from './hash.ts'

/** Keys that are looked at before one counts as forgotten: only keys made for it share one hash that often. */
const PATIENCE = 32
const FEW = 64

/**
 * The keys that left last, by their hashes, each with the time at which it had come in. A ring in the order in which
 * they left. Those of a bucket form a chain, the latest first, so that a search ends at the first that is too old.
 * It takes 16 bytes a key.
 */
export class Ghosts {
  /** How many there have been: the number of the next. Numbers and times count modulo 2^32. */
  #buried = 0
  /** Keys that there is room for; 0 before the first. */
  size = 0
  #hashes = new Int32Array(0)
  #born = new Uint32Array(0)
  /** Numbers: of the next in the chain, and by bucket of the first. */
  #next = new Uint32Array(0)
  #first = new Uint32Array(0)

  /** Remembers a key that came in at `born`; `most` is how many are remembered. */
  bury(hash: number, born: number, most: number): void {
    if (hash === NO_HASH) return
    if (most > this.size) this.#grow(most)
    this.#place(this.#buried, hash, born)
    this.#buried = (this.#buried + 1) >>> 0
  }

  /** When the key came in, if it is among the last `most` that left; else -1. It is forgotten. */
  recall(hash: number, most: number): number {
    if (this.size === 0 || hash === NO_HASH) return -1
    const mask = this.size - 1
    const buried = this.#buried
    let number = this.#first[hash & mask]
    let younger = 0
    for (let looks = 0; looks < PATIENCE; looks++) {
      const age = (buried - number) >>> 0
      // Also the end of a chain, and what another has overwritten since: numbers only grow older along a chain.
      if (age <= younger || age > most || age > this.size) return -1
      const place = number & mask
      if (this.#hashes[place] === hash) {
        this.#hashes[place] = NO_HASH
        return this.#born[place]
      }
      younger = age
      number = this.#next[place]
    }
    return -1
  }

  clear(): void {
    if (this.size === 0) return
    this.size = this.#buried = 0
    this.#hashes = new Int32Array(0)
    this.#born = new Uint32Array(0)
    this.#next = new Uint32Array(0)
    this.#first = new Uint32Array(0)
  }

  #place(number: number, hash: number, born: number): void {
    const mask = this.size - 1
    const place = number & mask
    this.#hashes[place] = hash
    this.#born[place] = born
    if (hash === NO_HASH) return
    this.#next[place] = this.#first[hash & mask]
    this.#first[hash & mask] = number
  }

  #grow(most: number): void {
    const hashes = this.#hashes
    const born = this.#born
    let size = FEW
    while (size < most) size *= 2
    this.size = size
    this.#hashes = new Int32Array(size)
    this.#born = new Uint32Array(size)
    this.#next = new Uint32Array(size)
    this.#first = new Uint32Array(size)
    for (let age = Math.min(hashes.length, this.#buried); age > 0; age--) {
      const number = (this.#buried - age) >>> 0
      const place = number & (hashes.length - 1)
      this.#place(number, hashes[place], born[place])
    }
  }
}
