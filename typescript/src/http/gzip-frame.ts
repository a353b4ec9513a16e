/** A document in gzip whose value is compressed once (RFC 1952, RFC 1951 3.2.4): the text around it is stored as it is. */
import * as zlib from 'node:zlib'
import { Frame, Pieces } from './frame.ts'

/** Goes on from the checksum of what came before. Absent before Node 22.2. */
const crc32 = (zlib as { crc32?: (bytes: Uint8Array, before?: number) => number }).crc32

/** Whether this run time can make them. */
export const FRAMES_GZIP: boolean = crc32 !== undefined

/** Deflate, no name, no time, an unknown system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** Most bytes of a stored block. */
const BLOCK = 0xffff

/** The beginning of a gzip member: the text before a value, and the value. Each document adds the text after it. */
export class GzipFrame {
  readonly #frame: Frame
  readonly #crc: number
  readonly #size: number

  /** @param compressed the value by deflate, with no last block, and ending with a whole byte */
  constructor(head: Uint8Array, value: Uint8Array, compressed: Uint8Array) {
    this.#frame = new Frame([HEADER, ...stored(head, false), compressed])
    this.#crc = crc32!(value, crc32!(head))
    this.#size = head.length + value.length
  }

  /** Compresses the value, on a thread of the run time's pool. */
  static make(head: Uint8Array, value: Uint8Array): Promise<GzipFrame> {
    return new Promise((resolve, reject) => {
      const options = { finishFlush: zlib.constants.Z_SYNC_FLUSH }
      zlib.deflateRaw(value, options, (error, compressed) => {
        if (error === null) resolve(new GzipFrame(head, value, compressed))
        else reject(error)
      })
    })
  }

  /** Number of bytes that it holds. */
  get held(): number {
    return this.#frame.held
  }

  /** The document with this text after the value. */
  with(tail: string): Pieces {
    const text = Buffer.from(tail)
    const end = Buffer.allocUnsafe(8)
    end.writeUInt32LE(crc32!(text, this.#crc), 0)
    end.writeUInt32LE((this.#size + text.length) % 2 ** 32, 4)
    return new Pieces(this.#frame, Buffer.concat([...stored(text, true), end]))
  }
}

/** Bytes as blocks that are not compressed. Each begins and ends with a whole byte. */
function stored(bytes: Uint8Array, isEnd: boolean): Uint8Array[] {
  const blocks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const part = bytes.subarray(at, at + BLOCK)
    const isLast = isEnd && at + BLOCK >= bytes.length
    const start = Buffer.from([isLast ? 1 : 0, 0, 0, 0, 0])
    start.writeUInt16LE(part.length, 1)
    start.writeUInt16LE(part.length ^ 0xffff, 3)
    blocks.push(start, part)
  }
  return blocks
}
