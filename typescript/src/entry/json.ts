import { MalformedEntry } from '../more-errors.ts'
import { isMatch, MATCH } from './match.ts'
import { MAX_DEPTH } from './messagepack/limits.ts'
import { refused, type Segment } from './path.ts'
import {
  describe,
  isList,
  isMap,
  isPlainObject,
  LONE_SURROGATE,
  OTHER_KEY,
  SYMBOL_KEY,
  TOO_DEEP,
} from './typemap.ts'
import { COMPOUND, VALUE } from './weight.ts'

const NOT_FINITE = 'JSON has no NaN and no infinity: use messagepack'
const UNSAFE = 'JSON takes integers within ±(2^53 - 1) only: use messagepack'

/** Whether a reader gets something other than what was written last: a Map comes back as an object. */
let converted = false
/** What the value weighs that is being written. */
let weight = 0

/** A value as JSON, whether a reader gets something else, and what it weighs. */
export interface Json {
  readonly text: string
  readonly converted: boolean
  readonly weight: number
}

/**
 * A value as JSON. `JSON.stringify` alone would drop what it does not know, write a Date as text and a Map as `{}`.
 * @throws UnsupportedValue with the path to what JSON does not have.
 */
export function writeJson(value: unknown): Json {
  // A getter of the value may come here again.
  const outer = converted
  const outerWeight = weight
  converted = false
  weight = VALUE
  try {
    const plain = writePlain(value)
    if (plain !== undefined) return { text: plain, converted, weight }
    weight = VALUE
    const text = write(value, [])
    return { text, converted, weight }
  } finally {
    converted = outer
    weight = outerWeight
  }
}

/** What `JSON.stringify` writes exactly, by it: an order of magnitude faster than part by part. */
function writePlain(value: unknown): string | undefined {
  if (!isPlain(value, 0)) return undefined
  const text = JSON.stringify(value)
  // Half a surrogate pair comes out as an escape.
  return text.includes('\\ud') ? undefined : text
}

/** Whether all of it is of JSON's own types, so that a reader gets the same back. Adds to the weight. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
    case 'object':
      break
    default:
      return false
  }
  if (value === null) return true
  if (depth === MAX_DEPTH || typeof (value as { toJSON?: unknown }).toJSON === 'function')
    return false
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Array.prototype) {
    const values = value as readonly unknown[]
    if (!Array.isArray(value) || isMatch(values)) return false
    weight += COMPOUND + VALUE * values.length
    for (let place = 0; place < values.length; place++) {
      if (!isPlain(values[place], depth + 1)) return false
    }
    return true
  }
  if (prototype !== Object.prototype || Object.getOwnPropertySymbols(value).length > 0) return false
  const object = value as Record<string, unknown>
  const keys = Object.keys(object)
  weight += COMPOUND + VALUE * 2 * keys.length
  for (const key of keys) {
    if (!isPlain(object[key], depth + 1)) return false
  }
  return true
}

function write(value: unknown, path: Segment[]): string {
  switch (typeof value) {
    case 'string':
      return writeText(value, path)
    case 'number':
      if (!Number.isFinite(value)) throw refused(path, NOT_FINITE)
      if (Object.is(value, -0)) converted = true
      return JSON.stringify(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'bigint':
      if (value < Number.MIN_SAFE_INTEGER || value > Number.MAX_SAFE_INTEGER)
        throw refused(path, UNSAFE)
      converted = true
      return value.toString()
    case 'object':
      return value === null ? 'null' : writeObject(value, path)
    default:
      throw refused(path, describe(value))
  }
}

function writeObject(value: object, path: Segment[]): string {
  const pairs = isMap(value) ? value : isPlainObject(value) ? Object.entries(value) : undefined
  if (pairs === undefined && !isList(value)) {
    if (Array.isArray(value) || value instanceof Map) throw refused(path, describe(value))
    throw refused(path, `JSON does not have ${nameOf(value)}: use messagepack`)
  }
  if (path.length === MAX_DEPTH) throw refused(path, TOO_DEEP)
  if (pairs === undefined && isMatch(value as readonly unknown[])) throw refused(path, MATCH)
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) converted = true
  const isObject = !isMap(value)
  const level = path.length
  const parts: string[] = []
  if (pairs === undefined) {
    const values = value as readonly unknown[]
    for (let place = 0; place < values.length; place++) {
      path[level] = place
      parts.push(write(values[place], path))
    }
  } else {
    refuseSymbols(value, path)
    for (const [key, held] of pairs) {
      if (held === undefined && isObject) {
        converted = true
        continue
      }
      path[level] = String(key)
      if (typeof key !== 'string') throw refused(path, OTHER_KEY)
      parts.push(`${writeText(key, path)}:${write(held, path)}`)
    }
  }
  path.length = level
  weight += COMPOUND + VALUE * (pairs === undefined ? parts.length : 2 * parts.length)
  return pairs === undefined ? `[${parts.join()}]` : `{${parts.join()}}`
}

function writeText(text: string, path: Segment[]): string {
  if (!text.isWellFormed()) throw refused(path, LONE_SURROGATE)
  return JSON.stringify(text)
}

function refuseSymbols(map: object, path: Segment[]): void {
  for (const symbol of Object.getOwnPropertySymbols(map)) {
    if (Object.prototype.propertyIsEnumerable.call(map, symbol)) {
      throw refused([...path, symbol.toString()], SYMBOL_KEY)
    }
  }
}

function nameOf(value: object): string {
  return value.constructor?.name ? `the type ${value.constructor.name}` : 'such objects'
}

/**
 * The value in a JSON text.
 * @throws MalformedEntry for what RFC 8259, or the entry format, does not allow.
 */
export function readJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (failure) {
    throw malformed((failure as Error).message)
  }
  // JSON.parse accepts half a surrogate pair as an escape.
  check(value, 0, text.includes('\\u'))
  return value
}

function check(value: unknown, depth: number, escapes: boolean): void {
  if (typeof value === 'string') {
    if (escapes && !value.isWellFormed()) throw malformed(LONE_SURROGATE)
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw malformed('a number is out of range')
  } else if (typeof value === 'object' && value !== null) {
    if (depth === MAX_DEPTH) throw malformed('nested deeper than 128 lists and maps')
    if (Array.isArray(value)) {
      for (const part of value) check(part, depth + 1, escapes)
    } else {
      const object = value as Record<string, unknown>
      for (const key of Object.keys(object)) {
        if (escapes && !key.isWellFormed()) throw malformed(LONE_SURROGATE)
        check(object[key], depth + 1, escapes)
      }
    }
  }
}

function malformed(reason: string): MalformedEntry {
  return new MalformedEntry(
    `not a valid entry: JSON: ${reason}; delete it and load the value again`,
  )
}
