import type { Origin } from '../memory/over-host.ts'

/** Words that the native part fills, as numbers. */
export class Words {
  readonly words: BigUint64Array
  readonly #halves: Uint32Array

  constructor(length: number) {
    this.words = new BigUint64Array(length)
    this.#halves = new Uint32Array(this.words.buffer)
  }

  protected whole(at: number): number {
    return this.#halves[2 * at] + this.#halves[2 * at + 1] * 0x1_0000_0000
  }
}

/** See `get` in `native/src/operations.rs`. */
export class NativeOrigin extends Words implements Origin {
  readonly #signed: Int32Array

  constructor() {
    super(5)
    this.#signed = new Int32Array(this.words.buffer)
  }

  get slot(): number {
    return this.whole(0)
  }

  get ver(): number {
    return this.#signed[2]
  }

  get epoch(): number {
    return this.#signed[4]
  }

  get created(): number {
    return this.whole(3)
  }

  get keptUntil(): number {
    return this.whole(4)
  }
}

/** See `peek` in `native/src/seen.rs`. The first three words say which entry it was, for `remove` and `exchange`. */
export class Seen extends Words {
  /** The id of the serializer, which comes with the payload. */
  serializer = 0

  constructor() {
    super(10)
  }

  /** Milliseconds since 1970; `expires` is 0 for never. */
  get created(): number {
    return this.whole(3)
  }

  get expires(): number {
    return this.whole(4)
  }

  /** Bytes of the entry. */
  get size(): number {
    return this.whole(5)
  }

  /** 0 is none. */
  get compressor(): number {
    return this.whole(6)
  }

  /** When its time to live ends, 0 for never; a time to idle may end before. */
  get ends(): number {
    return this.whole(7)
  }

  /** Once it was asked for. */
  get version(): bigint {
    return this.words[9]
  }
}

/** The facts of the entry that was peeked at last. */
export const seen: Seen = new Seen()
