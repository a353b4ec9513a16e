/**
 * How many bytes of memory a value takes: an estimate from what V8 allocates on a 64-bit machine, good enough to hold a
 * cache near its bound. What objects of one shape share (the names of their keys) is not counted.
 */
import { Kind, kindOf } from './kind.ts'
import { isSparse, sparsePlaces } from './shape.ts'

/** A place in an object, an array or a map: a pointer or a small integer. */
export const SLOT = 8
/** An object without its properties: map, properties, elements. */
export const OBJECT = 24
/** An array without its elements: the object, its length, the store's head. */
export const ARRAY = 48
/** A number that is not a small integer. */
export const NUMBER = 16
/** A string without its characters. */
const STRING = 24
const BIGINT = 16
/** A Date with its cached fields. */
export const DATE = 96
/** A regular expression with its compiled form, which is shared while its text is the same. */
export const REGEXP = 64
/** A Map or Set without entries, and what an entry takes: key, value, chain, and the table's slack. */
export const TABLE = 80
export const MAP_ENTRY = 40
export const SET_ENTRY = 32
/** An ArrayBuffer, and a view on one, without the bytes. */
export const BUFFER = 120
export const VIEW = 104
/** An error without its texts. */
export const ERROR = 160
export const BOXED = 32
/** What an instance of a class, a function or anything else is taken for, beside its own enumerable properties. */
export const UNKNOWN = 64

/** Objects with more properties than this are hash tables in V8: three slots a property. */
const DICTIONARY = 128
const DICTIONARY_SLOT = 2 * SLOT

/** Shorter strings count two bytes a character: looking costs more than the error. */
const SHORT_STRING = 32
const SAMPLES = 8

/**
 * Bytes of a string. Eight characters of a long one are checked: if none is above U+00FF, it counts one byte a
 * character, otherwise two. That is wrong, by half, for long text with very few such characters.
 */
export function weighString(text: string): number {
  const { length } = text
  if (length <= SHORT_STRING) return STRING + 2 * length
  const step = (length - 1) / (SAMPLES - 1)
  for (let sample = 0; sample < SAMPLES; sample++) {
    if (text.charCodeAt((sample * step) | 0) > 0xff) return STRING + 2 * length
  }
  return STRING + length
}

/**
 * Bytes of a value that is not an object, beside the slot that it stands in; a negative number for an object, a function, a
 * symbol, which need another look.
 */
export function weighPrimitive(value: unknown): number {
  switch (typeof value) {
    case 'number':
      return (value | 0) === value ? 0 : NUMBER
    case 'string':
      return weighString(value)
    case 'boolean':
    case 'undefined':
      return 0
    case 'bigint':
      return weighBigInt(value)
    case 'object':
      return value === null ? 0 : -1
    default:
      return -1
  }
}

const SMALL = 1n << 64n

function weighBigInt(value: bigint): number {
  if (value < SMALL && value > -SMALL) return BIGINT + 8
  return BIGINT + Math.ceil(value.toString(16).length / 2)
}

/** Bytes of a plain object whose properties are all primitive; a negative number if one is not. */
export function weighFields(object: object): number {
  let weight = OBJECT
  let count = 0
  for (const key in object) {
    const value = (object as Record<string, unknown>)[key]
    // What most fields are, without a call.
    if (typeof value === 'string') {
      weight += value.length <= SHORT_STRING ? STRING + 2 * value.length : weighString(value)
    } else if (typeof value === 'number') {
      if ((value | 0) !== value) weight += NUMBER
    } else {
      const bytes = weighPrimitive(value)
      if (bytes < 0) return -1
      weight += bytes
    }
    count++
  }
  return weight + weighSlots(count)
}

/** Bytes of the slots of an object with so many properties. */
export function weighSlots(count: number): number {
  return SLOT * count + (count > DICTIONARY ? (DICTIONARY_SLOT + STRING) * count : 0)
}

/** Bytes of an array whose elements are all primitive; a negative number if one is not. */
export function weighElements(array: readonly unknown[]): number {
  const { length } = array
  let weight = ARRAY + SLOT * length
  for (let place = 0; place < length; place++) {
    const value = array[place]
    if (typeof value === 'number') {
      // Numbers that are not small integers stand in an array of them without a box.
      continue
    }
    const bytes = weighPrimitive(value)
    if (bytes < 0) return -1
    weight += bytes
  }
  return weight
}

/** Objects that are gone through at most: a value may reach the whole program. */
const MOST_OBJECTS = 100_000

/**
 * Bytes of any value, for a cache that stores what it is given as it is. An object that is reached twice counts once.
 * Nothing is refused: functions and instances of classes count a constant and their own enumerable properties, a property
 * that throws counts nothing, and behind the first 100,000 objects nothing is counted.
 */
export function weigh(value: unknown): number {
  const primitive = weighPrimitive(value)
  if (primitive >= 0) return primitive
  if (typeof value === 'symbol') return UNKNOWN
  try {
    if (Object.getPrototypeOf(value) === Object.prototype) {
      // What most values are; if not, the fields are gone through again.
      const flat = weighFields(value as object)
      if (flat >= 0) return flat
    }
  } catch {
    // A getter that throws, or a revoked proxy.
  }
  return weighGraph(value as object)
}

function weighGraph(root: object): number {
  const seen = new Set<object>([root])
  let weight = 0
  /** Counts a part, now or, if it is an object, later. */
  const part = (value: unknown): void => {
    const bytes = weighPrimitive(value)
    if (bytes >= 0) weight += bytes
    else if (typeof value === 'symbol') weight += UNKNOWN
    else if (seen.size < MOST_OBJECTS) seen.add(value as object)
  }
  // A set gives those that are added while it is gone through.
  for (const object of seen) {
    let bytes = UNKNOWN
    try {
      bytes = weighObject(object, part)
    } catch {
      // A revoked proxy, or a trap that throws.
    }
    weight += bytes
  }
  return weight
}

/** Bytes of an object alone; `part` is called with each value that it holds. */
function weighObject(object: object, part: (value: unknown) => void): number {
  const kind = typeof object === 'function' ? Kind.Instance : kindOf(object)
  switch (kind) {
    case Kind.Array: {
      const array = object as unknown[]
      if (isSparse(array)) {
        const places = sparsePlaces(array)
        for (const place of places) part(array[place])
        return ARRAY + 3 * SLOT * places.length
      }
      const flat = weighElements(array)
      if (flat >= 0) return flat
      for (let place = 0; place < array.length; place++) part(array[place])
      return ARRAY + SLOT * array.length
    }
    case Kind.Map:
      for (const [key, value] of object as Map<unknown, unknown>) {
        part(key)
        part(value)
      }
      return TABLE + MAP_ENTRY * (object as Map<unknown, unknown>).size
    case Kind.Set:
      for (const value of object as Set<unknown>) part(value)
      return TABLE + SET_ENTRY * (object as Set<unknown>).size
    case Kind.Date:
      return DATE
    case Kind.RegExp:
      return REGEXP + weighString((object as RegExp).source)
    case Kind.ArrayBuffer:
      return BUFFER + (object as ArrayBuffer).byteLength
    case Kind.Buffer:
      // Its memory may be a pool's, of which it holds a part only.
      return VIEW + (object as Buffer).byteLength
    case Kind.TypedArray:
    case Kind.DataView:
      part((object as DataView).buffer)
      return VIEW
    case Kind.Boxed:
      part(object.valueOf())
      return BOXED
    case Kind.Error:
      part((object as Error).message)
      part((object as Error).stack)
      part((object as Error).cause)
      return ERROR + properties(object, part)
    case Kind.Plain:
    case Kind.Bare:
      return OBJECT + properties(object, part)
    default:
      if (object instanceof SharedArrayBuffer) return BUFFER + object.byteLength
      return UNKNOWN + properties(object, part)
  }
}

/** Bytes of the slots of an object's own enumerable properties. */
function properties(object: object, part: (value: unknown) => void): number {
  const keys = Object.keys(object)
  for (const key of keys) {
    let value: unknown
    try {
      value = (object as Record<string, unknown>)[key]
    } catch {
      continue
    }
    part(value)
  }
  return weighSlots(keys.length)
}

/** What an entry takes beside key and value: its places in the columns and in the index. */
const ENTRY = 96

/** Bytes of a key, and of an entry without its value. */
export function weighKey(key: unknown): number {
  return ENTRY + STRING + (typeof key === 'string' ? 2 * key.length : 0)
}
