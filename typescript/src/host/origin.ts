import type { Origin } from '../memory/tier.ts'

/** Five words that the native part fills: see `get` in `native/src/operations.rs`. */
export class NativeOrigin implements Origin {
  readonly words: BigUint64Array = new BigUint64Array(5)
  readonly #halves: Uint32Array = new Uint32Array(this.words.buffer)
  readonly #signed: Int32Array = new Int32Array(this.words.buffer)

  get slot(): number {
    return this.#whole(0)
  }

  get ver(): number {
    return this.#signed[2]
  }

  get epoch(): number {
    return this.#signed[4]
  }

  get created(): number {
    return this.#whole(6)
  }

  get expires(): number {
    return this.#whole(8)
  }

  #whole(at: number): number {
    return this.#halves[at] + this.#halves[at + 1] * 0x1_0000_0000
  }
}
