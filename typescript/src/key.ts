import { InvalidKey } from './errors.ts'

/** A key: text, which stands for its UTF-8 bytes, or bytes. */
export type Key = string | Uint8Array

/** Bytes that a buffer has at first, and that it keeps at most. */
const USUAL = 256
const KEPT = 65_536

const encoder = new TextEncoder()

/**
 * The full key of one operation: a namespace's prefix and then the key, as bytes and, for the hash and the comparison
 * with a record, as little-endian 32-bit words. The next operation overwrites it, so no code of callers may run between
 * `set` and the use.
 */
export class KeyBuffer {
  /** Where the key begins: the prefix's length. */
  readonly from: number
  /** Where it ends. */
  to: number
  /** Counts the uses, so that an operation sees that another one came in between. */
  use = 0
  bytes: Uint8Array
  words: Int32Array
  /** What all full keys begin with. */
  readonly prefix: Uint8Array
  /** The prefix's bytes behind its last whole word; the first bytes of the key are put beside them. */
  readonly #tail: number

  constructor(prefix: Uint8Array) {
    this.prefix = prefix
    this.from = this.to = prefix.length
    this.bytes = new Uint8Array(0)
    this.words = new Int32Array(0)
    this.#resize(Math.max(USUAL, prefix.length + 64))
    this.#tail = this.words[this.from >>> 2]
  }

  /** @throws InvalidKey */
  set(key: Key): void {
    this.use++
    if (typeof key === 'string') this.#setText(key)
    else this.#setBytes(key)
  }

  #setText(key: string): void {
    const { length } = key
    // Two words more than the text needs: the loop writes a word ahead.
    this.#reserve(this.from + length + 8)
    const { words } = this
    const shift = (this.from & 3) << 3
    let place = this.from >>> 2
    let carry = this.#tail
    let seen = 0
    let at = 0
    for (const end = length - 3; at < end; at += 4) {
      const a = key.charCodeAt(at)
      const b = key.charCodeAt(at + 1)
      const c = key.charCodeAt(at + 2)
      const d = key.charCodeAt(at + 3)
      seen |= a | b | c | d
      const word = a | (b << 8) | (c << 16) | (d << 24)
      words[place++] = carry | (word << shift)
      carry = shift === 0 ? 0 : word >>> (32 - shift)
    }
    let word = 0
    for (let bits = 0; at < length; at++, bits += 8) {
      const a = key.charCodeAt(at)
      seen |= a
      word |= a << bits
    }
    words[place] = carry | (word << shift)
    words[place + 1] = shift === 0 ? 0 : word >>> (32 - shift)
    this.to = this.from + length
    if (seen > 127) this.#setUnicode(key)
  }

  #setUnicode(key: string): void {
    if (!key.isWellFormed()) {
      throw new InvalidKey('the key holds half a surrogate pair, which has no UTF-8 form')
    }
    this.#reserve(this.from + key.length * 3 + 4)
    this.#restoreTail()
    this.#end(this.from + encoder.encodeInto(key, this.bytes.subarray(this.from)).written)
  }

  #setBytes(key: Uint8Array): void {
    if (!(key instanceof Uint8Array)) {
      throw new InvalidKey(
        `a key is a string or a Uint8Array, not ${key === null ? 'null' : typeof key}`,
      )
    }
    this.#reserve(this.from + key.length + 4)
    this.#restoreTail()
    this.bytes.set(key, this.from)
    this.#end(this.from + key.length)
  }

  /** The words share their bytes with the key, so an earlier one may stand behind the prefix. */
  #restoreTail(): void {
    this.words[this.from >>> 2] = this.#tail
  }

  #end(to: number): void {
    this.to = to
    this.bytes.fill(0, to, (to + 4) & ~3)
  }

  #reserve(length: number): void {
    const { length: capacity } = this.bytes
    if (length > capacity) this.#resize(length)
    else if (capacity > KEPT && length <= KEPT) this.#resize(USUAL + length)
  }

  #resize(length: number): void {
    const memory = new ArrayBuffer((length + 7) & ~3)
    this.bytes = new Uint8Array(memory)
    this.words = new Int32Array(memory)
    this.bytes.set(this.prefix)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A key of the directory: text where its bytes are UTF-8. */
export function toKey(bytes: Uint8Array): Key {
  try {
    return utf8.decode(bytes)
  } catch {
    return Uint8Array.from(bytes)
  }
}
