/** Bytes around which text is put, again and again. */

/**
 * Bytes as `{"value":[1,2,3]`, with room behind for what differs from answer to answer. A server that
 * copies what it is given is handed this very memory, so the value is copied once and not twice.
 */
export class Frame {
  #memory: Buffer
  readonly #fixed: number

  constructor(parts: readonly Uint8Array[]) {
    this.#fixed = parts.reduce((size, part) => size + part.length, 0)
    this.#memory = Buffer.allocUnsafeSlow(this.#fixed + 256)
    let at = 0
    for (const part of parts) {
      this.#memory.set(part, at)
      at += part.length
    }
  }

  /** Number of bytes before what differs. */
  get size(): number {
    return this.#fixed
  }

  /** Number of bytes that it holds, with the room behind. */
  get held(): number {
    return this.#memory.length
  }

  /** The bytes before what differs; they never change. */
  get fixed(): Uint8Array {
    return this.#memory.subarray(0, this.#fixed)
  }

  /** The bytes and what differs, of `size` bytes; they stand only until the next call, so copy them before that. */
  around(tail: string | Uint8Array, size: number): Uint8Array {
    const end = this.#fixed + size
    if (end > this.#memory.length) {
      // What was handed out stays whole: it is other memory.
      const grown = Buffer.allocUnsafeSlow(this.#fixed + 2 * size)
      grown.set(this.fixed)
      this.#memory = grown
    }
    if (typeof tail === 'string') this.#memory.write(tail, this.#fixed)
    else this.#memory.set(tail, this.#fixed)
    return this.#memory.subarray(0, end)
  }
}

/** The body of an answer in two pieces: a frame, and what comes after it. */
export class Pieces {
  readonly frame: Frame
  readonly tail: string | Uint8Array
  readonly #tailSize: number

  constructor(frame: Frame, tail: string | Uint8Array) {
    this.frame = frame
    this.tail = tail
    this.#tailSize = typeof tail === 'string' ? Buffer.byteLength(tail) : tail.length
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
  copy(): Buffer<ArrayBuffer> {
    return Buffer.from(this.joined())
  }
}
