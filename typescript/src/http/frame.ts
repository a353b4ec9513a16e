/** Bytes around which text is put, again and again. */

/**
 * A name and a value, as `{"value":[1,2,3]`, with room behind for what differs from answer to answer. A server that
 * copies what it is given is handed this very memory, so the value is copied once and not twice.
 */
export class Frame {
  #memory: Buffer
  readonly #fixed: number

  constructor(name: string, value: Uint8Array) {
    const head = `{${JSON.stringify(name)}:`
    const size = Buffer.byteLength(head)
    this.#fixed = size + value.length
    this.#memory = Buffer.allocUnsafeSlow(this.#fixed + 256)
    this.#memory.write(head)
    this.#memory.set(value, size)
  }

  /** Number of bytes before the text. */
  get size(): number {
    return this.#fixed
  }

  /** The bytes before the text; they never change. */
  get fixed(): Uint8Array {
    return this.#memory.subarray(0, this.#fixed)
  }

  /** The bytes and a text of `size` bytes; only until the next call, so for who copies them before that. */
  around(text: string, size: number): Uint8Array {
    const end = this.#fixed + size
    if (end > this.#memory.length) {
      // What was handed out stays whole: it is other memory.
      const grown = Buffer.allocUnsafeSlow(this.#fixed + 2 * size)
      grown.set(this.fixed)
      this.#memory = grown
    }
    this.#memory.write(text, this.#fixed)
    return this.#memory.subarray(0, end)
  }
}

/** The body of an answer in two pieces: a frame, and the text after it. */
export class Pieces {
  readonly frame: Frame
  readonly tail: string
  readonly #tailSize: number

  constructor(frame: Frame, tail: string) {
    this.frame = frame
    this.tail = tail
    this.#tailSize = Buffer.byteLength(tail)
  }

  /** Number of bytes. */
  get length(): number {
    return this.frame.size + this.#tailSize
  }

  /** In one piece, which stands only until the next call for the frame. */
  joined(): Uint8Array {
    return this.frame.around(this.tail, this.#tailSize)
  }

  /** In one piece of its own. */
  copy(): Buffer {
    return Buffer.from(this.joined())
  }
}
