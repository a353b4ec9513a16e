import { type FastBuffer, fastBuffer } from './fast-buffer.ts'

/** Bytes at first, and bytes that are kept at most. */
const USUAL = 4096
const KEPT = 1 << 20

/** Private bytes that grow: what an entry is copied to before it is decoded, and what a payload is written to. */
export class Scratch {
  bytes!: Uint8Array
  buffer!: FastBuffer
  view!: DataView

  constructor() {
    this.#resize(USUAL)
  }

  /** Makes room for `length` bytes; those there already may be lost. */
  reserve(length: number): void {
    if (length > this.bytes.length) this.#resize(length)
  }

  /** Makes room for `length` bytes and keeps the first `used`. */
  grow(length: number, used: number): void {
    const { bytes } = this
    this.#resize(Math.max(length, bytes.length * 2))
    this.bytes.set(bytes.subarray(0, used))
  }

  /** Lets go of a large buffer. */
  trim(): void {
    if (this.bytes.length > KEPT) this.#resize(USUAL)
  }

  #resize(length: number): void {
    const memory = new ArrayBuffer(length)
    this.bytes = new Uint8Array(memory)
    this.buffer = fastBuffer(memory)
    this.view = new DataView(memory)
  }
}
