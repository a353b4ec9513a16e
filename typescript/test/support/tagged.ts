/** Tagged JSON, the form that values have in spec/vectors and spec/conformance (spec/entry.md). */
import { Decimal, Named, Uuid } from '../../src/index.ts'

export type Tagged = null | boolean | string | { readonly [tag: string]: unknown }

/** The value; what JavaScript has no room for (below a millisecond, 2.0 beside 2) is cut off. */
export function fromTagged(tagged: Tagged): unknown {
  if (typeof tagged !== 'object' || tagged === null) return tagged
  const [[tag, held]] = Object.entries(tagged)
  switch (tag) {
    case 'int':
      return integer(BigInt(held as string))
    case 'float':
      return float(held as string)
    case 'bytes':
      return Uint8Array.from(Buffer.from(held as string, 'hex'))
    case 'list':
      return (held as Tagged[]).map(fromTagged)
    case 'set':
      return new Set((held as Tagged[]).map(fromTagged))
    case 'map':
      return Object.fromEntries(
        (held as [string, Tagged][]).map(([key, value]) => [key, fromTagged(value)]),
      )
    case 'timestamp': {
      const [seconds, nanoseconds] = held as [number, number]
      return new Date(seconds * 1000 + Math.floor(nanoseconds / 1e6))
    }
    case 'decimal':
      return new Decimal(held as string)
    case 'uuid':
      return new Uuid(held as string)
    case 'named': {
      const [name, value] = held as [string, Tagged]
      return new Named(name, fromTagged(value))
    }
    case 'repeat': {
      const [text, times] = held as [string, number]
      return text.repeat(times)
    }
    case 'invalid_text':
      // Text without a UTF-8 form, in the conformance cases only.
      return '\ud800'
    default:
      throw new Error(`an unknown tag: ${tag}`)
  }
}

function integer(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function float(text: string): number {
  if (text === 'inf') return Number.POSITIVE_INFINITY
  return text === '-inf' ? Number.NEGATIVE_INFINITY : Number(text)
}

/** The tagged form, in which 1 and -0 differ and NaN equals itself. Sets are sorted: their order means nothing. */
export function toTagged(value: unknown): Tagged {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'bigint') return { int: value.toString() }
  if (typeof value === 'number') return number(value)
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('hex') }
  if (Array.isArray(value)) return { list: value.map(toTagged) }
  if (value instanceof Set) return { set: inOrder([...value].map(toTagged)) }
  if (value instanceof Date) {
    const seconds = Math.floor(value.getTime() / 1000)
    return { timestamp: [seconds, (value.getTime() - seconds * 1000) * 1e6] }
  }
  if (value instanceof Decimal) return { decimal: value.text }
  if (value instanceof Named) return { named: [value.name, toTagged(value.value)] }
  if (value instanceof Uuid) return { uuid: Buffer.from(value.bytes).toString('hex') }
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    return { map: Object.entries(value).map(([key, held]) => [key, toTagged(held)]) }
  }
  throw new Error(`not a value: ${String(value)}`)
}

function number(value: number): Tagged {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return { int: String(value) }
  if (Number.isNaN(value)) return { float: 'nan' }
  if (!Number.isFinite(value)) return { float: value > 0 ? 'inf' : '-inf' }
  return { float: Object.is(value, -0) ? '-0.0' : String(value) }
}

/** A list sorted by what its elements look like. */
export function inOrder<T>(values: readonly T[]): T[] {
  return values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

/** The tagged form of what this becomes in JavaScript, to compare with. */
export function asHere(tagged: Tagged): Tagged {
  return toTagged(fromTagged(tagged))
}
