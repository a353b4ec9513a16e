import { Buffer } from 'node:buffer'
import { types } from 'node:util'
import { Kind, kindOf } from '../memory/kind.ts'

// The global one is a getter in Node.
const bufferPrototype = Buffer.prototype

export const TOO_DEEP = 'nested deeper than 128 lists, sets, maps and registered types, or a cycle'
export const LONE_SURROGATE = 'text with half a surrogate pair has no UTF-8 form'
export const SYMBOL_KEY = 'a key of a map is text, not a symbol'
export const OTHER_KEY = 'a key of a map is text'
export const IN_SET =
  'a set cannot hold a list, map, set or registered type, which not every language can hash'
export const TOO_MANY_DIGITS = 'a big integer has at most 4300 digits'
export const NO_DATE = 'the date is not a moment of the years 1 to 9999'

/**
 * Whether a value is an object literal, of this realm or of another one, or an object without a prototype: not an
 * instance of a class.
 */
export function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value)
  return (
    prototype === Object.prototype ||
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'))
  )
}

/** Whether a value is an array. Here and below: of any realm, and not an instance of a class that extends the built-in one. */
export function isList(value: object): value is readonly unknown[] {
  if (!Array.isArray(value)) return false
  return Object.getPrototypeOf(value) === Array.prototype || kindOf(value) === Kind.Array
}

export function isSet(value: object): value is Set<unknown> {
  return Object.getPrototypeOf(value) === Set.prototype || isForeign(value, Kind.Set, types.isSet)
}

export function isMap(value: object): value is Map<unknown, unknown> {
  return Object.getPrototypeOf(value) === Map.prototype || isForeign(value, Kind.Map, types.isMap)
}

export function isDate(value: object): value is Date {
  return (
    Object.getPrototypeOf(value) === Date.prototype || isForeign(value, Kind.Date, types.isDate)
  )
}

/** A Buffer is bytes as well. */
export function isBytes(value: object): value is Uint8Array {
  if (!(value instanceof Uint8Array)) return isForeign(value, Kind.TypedArray, types.isUint8Array)
  const prototype = Object.getPrototypeOf(value)
  return prototype === Uint8Array.prototype || prototype === bufferPrototype
}

/** Of another realm: what extends a class of this one has another kind. */
function isForeign(value: object, kind: Kind, hasState: (value: object) => boolean): boolean {
  return hasState(value) && kindOf(value) === kind
}

/** What to say of a value that is in no row of the type map. */
export function describe(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'undefined cannot be stored: leave it out, or store null'
    case 'function':
      return 'a function cannot be stored'
    case 'symbol':
      return 'a symbol cannot be stored'
    default: {
      const name = (value as object | null)?.constructor?.name
      return name
        ? `an instance of ${name} cannot be stored: make a plain object or list of it, or register its class (types)`
        : 'this object cannot be stored: make a plain object of it'
    }
  }
}
