import { MalformedEntry } from '../more-errors.ts'
import type { Scratch } from './scratch.ts'

/** Where text is. */
export type TextRoom = Pick<Scratch, 'bytes' | 'buffer'>

const { fromCharCode } = String
/** Text of at most so many bytes is made character by character. */
const FEW = 8

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The text in a range of UTF-8 bytes.
 * @throws MalformedEntry when they are not UTF-8.
 */
export function readText(scratch: TextRoom, from: number, to: number): string {
  if (to - from <= FEW) {
    const short = shortText(scratch.bytes, from, to)
    if (short !== undefined) return short
  }
  const text = scratch.buffer.utf8Slice(from, to)
  // Invalid UTF-8 becomes U+FFFD, which may also be in the text itself. In ASCII the engine finds none at once.
  return text.includes('\ufffd') ? readStrictly(scratch, from, to) : text
}

/** Up to 8 characters of ASCII. Node takes 45 ns for any call into its C++, and less than 20 for this; Bun 25 and 35. */
function shortText(b: Uint8Array, at: number, to: number): string | undefined {
  for (let place = at; place < to; place++) if (b[place] > 127) return undefined
  switch (to - at) {
    case 0:
      return ''
    case 1:
      return fromCharCode(b[at])
    case 2:
      return fromCharCode(b[at], b[at + 1])
    case 3:
      return fromCharCode(b[at], b[at + 1], b[at + 2])
    case 4:
      return fromCharCode(b[at], b[at + 1], b[at + 2], b[at + 3])
    case 5:
      return fromCharCode(b[at], b[at + 1], b[at + 2], b[at + 3], b[at + 4])
    case 6:
      return fromCharCode(b[at], b[at + 1], b[at + 2], b[at + 3], b[at + 4], b[at + 5])
    default: {
      const start = fromCharCode(b[at], b[at + 1], b[at + 2], b[at + 3], b[at + 4], b[at + 5])
      return start + (to - at === 7 ? fromCharCode(b[at + 6]) : fromCharCode(b[at + 6], b[at + 7]))
    }
  }
}

function readStrictly(scratch: TextRoom, from: number, to: number): string {
  try {
    return strict.decode(scratch.bytes.subarray(from, to))
  } catch {
    throw new MalformedEntry(
      'not a valid entry: text is not valid UTF-8; delete it and load the value again',
    )
  }
}

/** Whether a range of bytes, seen as little-endian words, is ASCII. */
export function isAscii(words: Int32Array, from: number, to: number): boolean {
  if (from >= to) return true
  let at = from >>> 2
  const last = (to - 1) >>> 2
  const behind = (3 - ((to - 1) & 3)) << 3
  let word = words[at] & (-1 << ((from & 3) << 3))
  let seen = 0
  while (at < last) {
    seen |= word
    word = words[++at]
  }
  seen |= word & (-1 >>> behind)
  return (seen & 0x80808080) === 0
}

/** Texts that were read lately, by a hash of their bytes. */
const KEYS = 1024
const LONGEST = 32
const keys: string[] = new Array(KEYS).fill('')

/**
 * Like `readText`, for the keys of maps, which are few and repeat: an object is made three times faster from strings
 * that the engine has seen as keys before.
 */
export function readKey(scratch: Scratch, from: number, to: number): string {
  const length = to - from
  if (length > LONGEST) return readText(scratch, from, to)
  const { bytes } = scratch
  let hash = length
  let seen = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at]
    seen |= byte
    hash = (Math.imul(hash, 31) + byte) | 0
  }
  if (seen > 127) return readText(scratch, from, to)
  const place = (hash ^ (hash >>> 10)) & (KEYS - 1)
  const known = keys[place]
  if (known.length === length) {
    let at = 0
    while (at < length && known.charCodeAt(at) === bytes[from + at]) at++
    if (at === length) return known
  }
  const text = scratch.buffer.latin1Slice(from, to)
  keys[place] = text
  return text
}
