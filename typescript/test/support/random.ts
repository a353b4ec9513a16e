/** Numbers that look random and are the same in each run (xorshift, 32 bits). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0 || 1
  }

  /** A whole number below a limit. */
  below(limit: number): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) % limit
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256))
  }

  /** One of several. */
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]
  }
}
