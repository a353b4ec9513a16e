/**
 * What a client makes of a reply, as bytes for other processes of this host: each value behind a letter. A list or an
 * object that JSON gives back as it is stands as JSON, which the run time writes and reads by native code, and which
 * is its representation, too.
 */

import { room, settled } from './room.ts'

/** Characters of a text that is written here: a call of the run time costs more than they do. */
const FEW = 64

const JSON_LETTER = 0x6a

/** Why a value has no bytes. */
class Unpackable extends Error {}

let scratch = room()
let length = 0

function grow(bytes: number): void {
  if (length + bytes <= scratch.length) return
  const more = room(Math.max(length + bytes, 2 * scratch.length))
  scratch.copy(more, 0, 0, length)
  scratch = more
}

function head(letter: string, count: number): void {
  grow(5)
  scratch[length] = letter.charCodeAt(0)
  length += 5
  counted(count, length - 4)
}

function counted(count: number, at: number): void {
  scratch[at] = count
  scratch[at + 1] = count >>> 8
  scratch[at + 2] = count >>> 16
  scratch[at + 3] = count >>> 24
}

function text(letter: string, value: string): void {
  head(letter, value.length)
  grow(value.length > FEW ? Buffer.byteLength(value) : value.length * 3)
  if (isWritten(value)) return
  const bytes = scratch.write(value, length, 'utf8')
  counted(bytes, length - 4)
  length += bytes
}

/** Writes a short text of ASCII; false: nothing is written. */
function isWritten(value: string): boolean {
  if (value.length > FEW) return false
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code > 0x7f) return false
    scratch[length + at] = code
  }
  length += value.length
  return true
}

function write(value: unknown): void {
  if (typeof value === 'string') text('s', value)
  else if (typeof value === 'number') double(value)
  else if (typeof value === 'bigint') text('i', value.toString())
  else if (typeof value === 'boolean') head(value ? 't' : 'F', 0)
  else if (value === undefined) head('u', 0)
  else if (value === null) head('n', 0)
  else if (typeof value === 'object') writeObject(value)
  else throw new Unpackable()
}

function double(value: number): void {
  head('f', 0)
  grow(8)
  scratch.writeDoubleLE(value, length)
  length += 8
}

function writeObject(value: object): void {
  if (Array.isArray(value)) {
    head('a', value.length)
    for (const one of value) write(one)
  } else if (ArrayBuffer.isView(value) && Buffer.isBuffer(value)) {
    head('b', value.length)
    grow(value.length)
    length += value.copy(scratch, length)
  } else if (value instanceof Map) {
    head('m', value.size)
    for (const [key, one] of value) {
      write(key)
      write(one)
    }
  } else if (value instanceof Set) {
    head('S', value.size)
    for (const one of value) write(one)
  } else {
    writePlain(value)
  }
}

/** @throws Unpackable for an instance of a class */
function writePlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) throw new Unpackable()
  const entries = Object.entries(value)
  head(prototype === null ? 'O' : 'o', entries.length)
  for (const [key, one] of entries) {
    text('s', key)
    write(one)
  }
}

function writeJson(value: object): void {
  const json = JSON.stringify(value)
  grow(1 + Buffer.byteLength(json))
  scratch[0] = JSON_LETTER
  length = 1 + scratch.write(json, 1, 'utf8')
}

/** Whether JSON gives a value back as it is: `undefined`, -0 and objects without a prototype it does not. */
function isSameAsJson(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (!isSameAsJson(value[at])) return false
    return true
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  return Object.values(value).every(isSameAsJson)
}

/** The bytes of a value, which stand until the next call; undefined for what a reply does not hold. */
export function pack(value: unknown): Buffer | undefined {
  length = 0
  try {
    if (typeof value === 'object' && value !== null && isSameAsJson(value)) writeJson(value)
    else write(value)
    return scratch.subarray(0, length)
  } catch {
    // Also what nests too deeply, and what a reply's own members throw: the reply itself is good.
    return undefined
  } finally {
    scratch = settled(scratch)
  }
}

class Reader {
  #at = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  #text(coding: 'utf8' | 'latin1', count: number): string {
    const from = this.#at
    this.#at += count
    return this.#bytes.toString(coding, from, this.#at)
  }

  value(): unknown {
    const bytes = this.#bytes
    const from = this.#at
    const letter = String.fromCharCode(bytes[from])
    const high = bytes[from + 4] * 2 ** 24
    const count = bytes[from + 1] + (bytes[from + 2] << 8) + (bytes[from + 3] << 16) + high
    this.#at = from + 5
    switch (letter) {
      case 's':
        return this.#text('utf8', count)
      case 'f':
        this.#at += 8
        return bytes.readDoubleLE(this.#at - 8)
      case 'i':
        return BigInt(this.#text('latin1', count))
      case 'b':
        this.#at += count
        return Buffer.from(bytes.subarray(this.#at - count, this.#at))
      case 'a': {
        const list: unknown[] = new Array(count)
        for (let at = 0; at < count; at++) list[at] = this.value()
        return list
      }
      case 'm': {
        const map = new Map<unknown, unknown>()
        for (let at = 0; at < count; at++) map.set(this.value(), this.value())
        return map
      }
      case 'S': {
        const set = new Set<unknown>()
        for (let at = 0; at < count; at++) set.add(this.value())
        return set
      }
      case 'o':
      case 'O': {
        const object: Record<string, unknown> = letter === 'O' ? Object.create(null) : {}
        for (let at = 0; at < count; at++) {
          const key = this.value() as string
          // A field called __proto__ is one as any other.
          const field = {
            value: this.value(),
            writable: true,
            enumerable: true,
            configurable: true,
          }
          if (key === '__proto__') Object.defineProperty(object, key, field)
          else object[key] = field.value
        }
        return object
      }
      case 't':
        return true
      case 'F':
        return false
      case 'u':
        return undefined
      default:
        return null
    }
  }
}

/** The JSON among bytes that `pack` made, without a copy; undefined where they are not JSON. */
export function jsonOfPacked(bytes: Buffer): Buffer | undefined {
  return bytes[0] === JSON_LETTER ? bytes.subarray(1) : undefined
}

/** The value of bytes that `pack` made. */
export function unpack(bytes: Buffer): unknown {
  const json = jsonOfPacked(bytes)
  return json ? JSON.parse(json.toString()) : new Reader(bytes).value()
}
