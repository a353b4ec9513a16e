import { ValueTooLarge } from '../more-errors.ts'

/** The weight of any value and of any key of a map, in bytes ("Weight" in `spec/entry.md`). */
export const VALUE = 4
/** What every value weighs on top that is not null, a boolean, a number, a small bigint or text. */
export const COMPOUND = 12
/** Whatever `maxValue` is, a value may weigh this much. */
const LEAST_LIMIT = 4 * 2 ** 20
/** The most that a byte of JSON weighs: an empty list takes two. */
const DENSEST_JSON = (VALUE + COMPOUND) / 2

/** The most that a value may weigh where a payload has at most `maxValue` bytes. */
export function weightLimit(maxValue: number): number {
  return Math.max(maxValue, LEAST_LIMIT)
}

/** What the native part is told of a payload: its length; or below 0 the weight, negated, that refuses it. */
export function measure(
  writer: { readonly weight: number },
  length: number,
  maxValue: number,
): number {
  return writer.weight > weightLimit(maxValue) ? -writer.weight : length
}

export function tooHeavy(size: number, limit: number): ValueTooLarge {
  return new ValueTooLarge(
    `the value has ${size} bytes before compression, where each value in it counts for 4 or more, and ${limit} are the limit: store less, or raise maxValue; an entry that is there already can be deleted`,
    size,
    limit,
  )
}

/**
 * Weighs JSON before it is read, because `JSON.parse` has made all objects when it returns.
 * @throws ValueTooLarge
 */
export function weighJson(bytes: Uint8Array, from: number, to: number, maxValue: number): void {
  const limit = weightLimit(maxValue)
  if ((to - from) * DENSEST_JSON <= limit) return
  const weight = weightOfJson(bytes, from, to, limit)
  if (weight > limit) throw tooHeavy(weight, limit)
}

/** The weight of JSON, counted until it exceeds `limit`. */
function weightOfJson(bytes: Uint8Array, from: number, to: number, limit: number): number {
  let weight = 0
  let at = from
  // Whether the byte before is part of a number, true, false or null.
  let inWord = false
  while (at < to && weight <= limit) {
    const byte = bytes[at++]
    if (byte === QUOTE) {
      weight += VALUE
      inWord = false
      while (at < to) {
        const next = bytes[at]
        at += next === BACKSLASH ? 2 : 1
        if (next === QUOTE) break
      }
    } else if (byte === OPEN_LIST || byte === OPEN_MAP) {
      weight += VALUE + COMPOUND
      inWord = false
    } else if (SEPARATES[byte]) {
      inWord = false
    } else {
      if (!inWord) weight += VALUE
      inWord = true
    }
  }
  return weight
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const OPEN_MAP = 0x7b
const SEPARATES: boolean[] = Array.from({ length: 256 }, (_, byte) =>
  ']}, :\t\n\r'.includes(String.fromCharCode(byte)),
)
