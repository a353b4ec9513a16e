import { Decimal, MAX_DIGITS } from '../decimal.ts'
import { isMatch, MATCH } from '../match.ts'
import { isNamed, type Named } from '../named.ts'
import { refused, type Segment } from '../path.ts'
import { namedOf, type Types } from '../registered.ts'
import { Scratch } from '../scratch.ts'
import type { PayloadWriter } from '../serializer.ts'
import {
  describe,
  IN_SET,
  isBytes,
  isDate,
  isList,
  isMap,
  isPlainObject,
  isSet,
  LONE_SURROGATE,
  NO_DATE,
  OTHER_KEY,
  SYMBOL_KEY,
  TOO_DEEP,
  TOO_MANY_DIGITS,
} from '../typemap.ts'
import { Uuid } from '../uuid.ts'
import { COMPOUND, VALUE } from '../weight.ts'
import {
  BIG_INTEGER,
  DECIMAL,
  MAX_DEPTH,
  MAX_INTEGER,
  MAX_SECONDS,
  MIN_INTEGER,
  MIN_SECONDS,
  NAMED,
  SET,
  TIMESTAMP,
  UUID,
} from './limits.ts'

/** ASCII text up to this length is written character by character. */
const FEW = 16
/** Marks a registered type in the path; its value takes its place there. */
const THROUGH = -1

/**
 * Writes values as MessagePack, each integer, text and count in its shortest form. Refuses what the type map does not
 * have, with the path to it.
 */
export class MessagePackWriter implements PayloadWriter {
  readonly #output = new Scratch()
  converted = false
  weight = 0
  #at = 0
  #depth = 0
  /** The way to where the writer is: the first `#depth` segments. */
  readonly #path: Segment[] = new Array(MAX_DEPTH).fill(0)

  readonly #types: Types | undefined

  constructor(types?: Types) {
    this.#types = types
  }

  get bytes(): Uint8Array {
    return this.#output.bytes
  }

  trim(): void {
    this.#output.trim()
  }

  write(value: unknown): number {
    this.#at = 0
    this.#depth = 0
    this.converted = false
    this.weight = VALUE
    this.#value(value)
    return this.#at
  }

  #value(value: unknown): void {
    if (typeof value === 'string') this.#text(value)
    else if (typeof value === 'number') this.#number(value)
    else if (value === null) this.#byte(0xc0)
    else if (typeof value === 'object') this.#object(value)
    else if (typeof value === 'boolean') this.#byte(value ? 0xc3 : 0xc2)
    else if (typeof value === 'bigint') this.#bigint(value)
    else throw this.#refused(describe(value))
  }

  #object(value: object): void {
    if (isList(value)) this.#list(value)
    else if (isPlainObject(value)) this.#plain(value)
    else if (isBytes(value)) this.#binary(value)
    else if (isDate(value)) this.#date(value)
    else if (isMap(value)) this.#map(value)
    else if (isSet(value)) this.#set(value)
    else this.#instance(value)
  }

  #instance(value: object): void {
    if (this.#types?.has(value)) this.#named(value)
    else if (value instanceof Decimal) this.#ascii(DECIMAL, value.text)
    else if (value instanceof Uuid) this.#uuid(value)
    else if (isNamed(value)) this.#named(value)
    else throw this.#refused(describe(value))
  }

  #number(value: number): void {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
      this.#reserve(9)
      this.#output.bytes[this.#at] = 0xcb
      this.#output.view.setFloat64(this.#at + 1, value)
      this.#at += 9
    } else if (value >= 0) {
      this.#unsigned(value)
    } else {
      this.#negative(value)
    }
  }

  #unsigned(value: number): void {
    if (value < 0x80) {
      this.#byte(value)
    } else if (value <= 0xffff_ffff) {
      this.#head(value, 0xcc, 0xcd, 0xce)
    } else {
      this.#reserve(9)
      const { bytes, view } = this.#output
      bytes[this.#at] = 0xcf
      view.setUint32(this.#at + 1, Math.floor(value / 0x1_0000_0000))
      view.setUint32(this.#at + 5, value >>> 0)
      this.#at += 9
    }
  }

  #negative(value: number): void {
    this.#reserve(9)
    const { bytes, view } = this.#output
    const at = this.#at
    if (value >= -0x20) {
      bytes[at] = value
      this.#at += 1
    } else if (value >= -0x80) {
      bytes[at] = 0xd0
      view.setInt8(at + 1, value)
      this.#at += 2
    } else if (value >= -0x8000) {
      bytes[at] = 0xd1
      view.setInt16(at + 1, value)
      this.#at += 3
    } else if (value >= -0x8000_0000) {
      bytes[at] = 0xd2
      view.setInt32(at + 1, value)
      this.#at += 5
    } else {
      bytes[at] = 0xd3
      view.setInt32(at + 1, Math.floor(value / 0x1_0000_0000))
      view.setUint32(at + 5, value >>> 0)
      this.#at += 9
    }
  }

  #bigint(value: bigint): void {
    if (value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) {
      this.converted = true
      this.#number(Number(value))
    } else if (value >= MIN_INTEGER && value <= MAX_INTEGER) {
      this.#reserve(9)
      this.#output.bytes[this.#at] = value < 0n ? 0xd3 : 0xcf
      this.#output.view.setBigUint64(this.#at + 1, BigInt.asUintN(64, value))
      this.#at += 9
    } else {
      const text = value.toString()
      if (text.length - (value < 0n ? 1 : 0) > MAX_DIGITS) throw this.#refused(TOO_MANY_DIGITS)
      this.#ascii(BIG_INTEGER, text)
    }
  }

  #text(text: string): void {
    const { length } = text
    if (length <= FEW && this.#shortAscii(text)) return
    // Up to three bytes for each character, behind the longest head.
    this.#reserve(length * 3 + 5)
    // The head is as long as it is for ASCII, which most text is; other text may have to move.
    const guess = headLength(length)
    const written = this.#output.buffer.utf8Write(text, this.#at + guess)
    if (written !== length) {
      if (!text.isWellFormed()) throw this.#refused(LONE_SURROGATE)
      const head = headLength(written)
      const from = this.#at + guess
      if (head !== guess) this.#output.bytes.copyWithin(this.#at + head, from, from + written)
    }
    if (written < 32) this.#byte(0xa0 | written)
    else this.#head(written, 0xd9, 0xda, 0xdb)
    this.#at += written
  }

  #shortAscii(text: string): boolean {
    const { length } = text
    this.#reserve(FEW + 1)
    const { bytes } = this.#output
    let at = this.#at
    let seen = 0
    bytes[at++] = 0xa0 | length
    for (let place = 0; place < length; place++) {
      const character = text.charCodeAt(place)
      seen |= character
      bytes[at++] = character
    }
    if (seen > 127) return false
    this.#at = at
    return true
  }

  #binary(value: Uint8Array): void {
    if (Object.getPrototypeOf(value) !== Uint8Array.prototype) this.converted = true
    this.weight += COMPOUND
    this.#reserve(value.length + 5)
    this.#head(value.length, 0xc4, 0xc5, 0xc6)
    this.#output.bytes.set(value, this.#at)
    this.#at += value.length
  }

  #list(values: readonly unknown[]): void {
    const { length } = values
    if (isMatch(values)) throw this.#refused(MATCH)
    if (Object.getPrototypeOf(values) !== Array.prototype) this.converted = true
    const level = this.#enter()
    this.weight += VALUE * length
    this.#count(length, 0x90, 0xdc, 0xdd)
    for (let place = 0; place < length; place++) {
      this.#path[level] = place
      this.#value(values[place])
    }
    this.#depth = level
  }

  #plain(map: Record<string, unknown>): void {
    const level = this.#enter()
    const keys = Object.keys(map)
    if (Object.getOwnPropertySymbols(map).length > 0) this.#refuseSymbols(map, level)
    if (Object.getPrototypeOf(map) !== Object.prototype) this.converted = true
    const head = this.#at
    this.#count(keys.length, 0x80, 0xde, 0xdf)
    let left = keys.length
    for (const key of keys) {
      this.#path[level] = key
      const value = map[key]
      if (value === undefined) {
        left--
        continue
      }
      this.#text(key)
      this.#value(value)
    }
    if (left < keys.length) this.#recount(head, keys.length, left)
    this.weight += 2 * VALUE * left
    this.#depth = level
  }

  /** Writes the head of a map again, because undefined properties were left out. */
  #recount(head: number, before: number, count: number): void {
    this.converted = true
    const body = head + (before < 16 ? 1 : before <= 0xffff ? 3 : 5)
    const end = this.#at
    this.#at = head
    this.#count(count, 0x80, 0xde, 0xdf)
    this.#output.bytes.copyWithin(this.#at, body, end)
    this.#at += end - body
  }

  #map(map: ReadonlyMap<unknown, unknown>): void {
    this.converted = true
    const level = this.#enter()
    this.weight += 2 * VALUE * map.size
    this.#count(map.size, 0x80, 0xde, 0xdf)
    for (const [key, value] of map) {
      this.#path[level] = String(key)
      if (typeof key !== 'string') throw this.#refused(OTHER_KEY)
      this.#text(key)
      this.#value(value)
    }
    this.#depth = level
  }

  #set(values: ReadonlySet<unknown>): void {
    const level = this.#enter()
    // The length of the extension's head depends on its payload, which is written first and then moved.
    const start = this.#at
    this.weight += VALUE * values.size
    this.#count(values.size, 0x90, 0xdc, 0xdd)
    let place = 0
    for (const value of values) {
      this.#path[level] = place++
      if (typeof value === 'object' && value !== null && this.#isContainer(value))
        throw this.#refused(IN_SET)
      this.#value(value)
    }
    this.#depth = level
    this.#wrap(SET, start)
  }

  /** An instance of a registered class, or a `Named`. */
  #named(value: object): void {
    const level = this.#enter()
    this.#path[level] = THROUGH
    const named = namedOf(value, this.#types, () => this.#way()) as Named
    this.converted = true
    this.weight += 2 * VALUE
    const start = this.#at
    this.#text(named.name)
    this.#value(named.value)
    this.#depth = level
    this.#wrap(NAMED, start)
  }

  /** Makes what was written from `start` on the payload of an extension. */
  #wrap(type: number, start: number): void {
    const length = this.#at - start
    const isFixed = FIXED_EXTENSIONS[length] !== undefined
    const head = isFixed ? 2 : length <= 0xff ? 3 : length <= 0xffff ? 4 : 6
    // As much as `#extension` reserves from `start` on: if it had to grow, it would not keep what was moved.
    this.#reserve(LONGEST_HEAD)
    this.#output.bytes.copyWithin(start + head, start, this.#at)
    this.#at = start
    this.#extension(type, length)
    this.#at += length
  }

  #date(date: Date): void {
    const ms = date.getTime()
    const seconds = Math.floor(ms / 1000)
    if (!(seconds >= MIN_SECONDS && seconds <= MAX_SECONDS)) throw this.#refused(NO_DATE)
    this.weight += COMPOUND
    const nanoseconds = (ms - seconds * 1000) * 1e6
    if (seconds < 0 || seconds >= 2 ** 34) {
      this.#extension(TIMESTAMP, 12)
      const { view } = this.#output
      view.setUint32(this.#at, nanoseconds)
      view.setInt32(this.#at + 4, Math.floor(seconds / 0x1_0000_0000))
      view.setUint32(this.#at + 8, seconds >>> 0)
      this.#at += 12
    } else if (nanoseconds > 0 || seconds > 0xffff_ffff) {
      this.#extension(TIMESTAMP, 8)
      const { view } = this.#output
      view.setUint32(this.#at, nanoseconds * 4 + Math.floor(seconds / 0x1_0000_0000))
      view.setUint32(this.#at + 4, seconds >>> 0)
      this.#at += 8
    } else {
      this.#extension(TIMESTAMP, 4)
      this.#output.view.setUint32(this.#at, seconds)
      this.#at += 4
    }
  }

  #uuid(uuid: Uuid): void {
    this.weight += COMPOUND
    this.#extension(UUID, 16)
    this.#output.bytes.set(uuid.bytes, this.#at)
    this.#at += 16
  }

  /** An extension whose payload is ASCII. */
  #ascii(type: number, text: string): void {
    this.weight += COMPOUND
    this.#extension(type, text.length)
    this.#at += this.#output.buffer.utf8Write(text, this.#at)
  }

  /** The head of an extension, and room for its payload. */
  #extension(type: number, length: number): void {
    this.#reserve(length + LONGEST_HEAD)
    const fixed = FIXED_EXTENSIONS[length]
    if (fixed === undefined) this.#head(length, 0xc7, 0xc8, 0xc9)
    else this.#byte(fixed)
    this.#byte(type)
  }

  #count(count: number, short: number, u16: number, u32: number): void {
    if (count < 16) this.#byte(short | count)
    else this.#head(count, u16, u16, u32)
  }

  /** A marker with the shortest length that fits; a form for 8 bits that equals the one for 16 does not exist. */
  #head(length: number, u8: number, u16: number, u32: number): void {
    this.#reserve(5)
    const { bytes, view } = this.#output
    const at = this.#at
    if (length <= 0xff && u8 !== u16) {
      bytes[at] = u8
      bytes[at + 1] = length
      this.#at += 2
    } else if (length <= 0xffff) {
      bytes[at] = u16
      view.setUint16(at + 1, length)
      this.#at += 3
    } else {
      bytes[at] = u32
      view.setUint32(at + 1, length)
      this.#at += 5
    }
  }

  #byte(byte: number): void {
    this.#reserve(1)
    this.#output.bytes[this.#at++] = byte
  }

  #reserve(length: number): void {
    if (this.#at + length > this.#output.bytes.length)
      this.#output.grow(this.#at + length, this.#at)
  }

  /** Goes one level down; the next segment of the path is at the returned place. */
  #enter(): number {
    const level = this.#depth
    if (level === MAX_DEPTH) throw this.#refused(TOO_DEEP)
    this.#depth = level + 1
    this.weight += COMPOUND
    return level
  }

  #refuseSymbols(map: object, level: number): void {
    for (const symbol of Object.getOwnPropertySymbols(map)) {
      if (!Object.prototype.propertyIsEnumerable.call(map, symbol)) continue
      this.#path[level] = symbol.toString()
      throw this.#refused(SYMBOL_KEY)
    }
  }

  #isContainer(value: object): boolean {
    return isContainer(value) || isNamed(value) || (this.#types?.has(value) ?? false)
  }

  #refused(reason: string): Error {
    return refused(this.#way(), reason)
  }

  #way(): Segment[] {
    return this.#path.slice(0, this.#depth).filter((segment) => segment !== THROUGH)
  }
}

/** Bytes of the longest head of an extension. */
const LONGEST_HEAD = 6
const FIXED_EXTENSIONS: Record<number, number> = { 1: 0xd4, 2: 0xd5, 4: 0xd6, 8: 0xd7, 16: 0xd8 }

/** Bytes of the head of text with this many bytes. */
function headLength(length: number): number {
  if (length < 32) return 1
  if (length <= 0xff) return 2
  return length <= 0xffff ? 3 : 5
}

function isContainer(value: object): boolean {
  return Array.isArray(value) || isSet(value) || isMap(value) || isPlainObject(value)
}
