import { MAX_DEPTH } from '../entry/messagepack/limits.ts'
import { readMessagePack } from '../entry/messagepack/read.ts'
import { MessagePackWriter } from '../entry/messagepack/write.ts'
import { isMatch } from '../entry/match.ts'
import { Scratch } from '../entry/scratch.ts'
import { Keeper } from './keeper.ts'
import type { Isolation } from './options.ts'
import { FLAT_ARRAY, GRAPH } from './plan.ts'
import { copyArray, copyPlain, placeOf } from './shape.ts'
import * as weight from './weigh.ts'

/**
 * What a cache without a directory stores: what one with a directory would give back (`spec/entry.md`, "Type map"). Most
 * values are plain objects and lists of text, numbers, booleans and null, which come back as they are; all others are
 * written and read as a directory's entries are, so that the two agree on every value and on every refusal.
 */
export class TypedKeeper extends Keeper {
  readonly #clones: boolean

  constructor(isolation: Isolation, weighs: boolean) {
    super(isolation, weighs, undefined)
    this.#clones = isolation === 'clone'
  }

  override keep(value: unknown): unknown {
    this.converted = false
    if (this.#clones && typeof value === 'object' && value !== null) {
      const flat = this.#keepFlat(value)
      if (flat !== undefined) return flat
    }
    if (isSimple(value, 0)) {
      const kept = super.keep(value)
      // What is reached twice comes back as two; and a graph it is as well with a symbol for a key, which is refused.
      if (this.plan !== GRAPH) return kept
    }
    return super.keep(this.#convert(value))
  }

  /** A plain object or list of what never changes; undefined for any other. */
  #keepFlat(value: object): unknown {
    const prototype = Object.getPrototypeOf(value)
    if (prototype === Object.prototype) {
      const place = placeOf(value)
      const copy = copyPlain(value, place)
      const bytes = weighFields(copy)
      if (bytes < 0 || Object.getOwnPropertySymbols(copy).length > 0) return undefined
      this.plan = place
      this.weight = bytes
      return copy
    }
    if (prototype !== Array.prototype || !Array.isArray(value) || isMatch(value)) return undefined
    const copy = copyArray(value)
    const bytes = weighElements(copy)
    if (bytes < 0) return undefined
    this.plan = FLAT_ARRAY
    this.weight = bytes
    return copy
  }

  /** What a reader of its entry would be given. */
  #convert(value: unknown): unknown {
    // A getter may come here again.
    const writer = writers.pop() ?? new MessagePackWriter()
    try {
      const length = writer.write(value)
      scratch.reserve(length)
      scratch.bytes.set(writer.bytes.subarray(0, length))
      this.converted = writer.converted
      return readMessagePack(scratch, 0, length)
    } finally {
      writer.trim()
      writers.push(writer)
      scratch.trim()
    }
  }
}

const writers: MessagePackWriter[] = []
const scratch = new Scratch()

/** Whether a value of lists and plain objects comes back as it is. Symbols as keys are not looked for. */
function isSimple(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return weighSimple(value) >= 0
  if (depth === MAX_DEPTH) return false
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype) {
    for (const key in value) {
      if (!key.isWellFormed()) return false
      if (!isSimple((value as Record<string, unknown>)[key], depth + 1)) return false
    }
    return true
  }
  if (prototype !== Array.prototype || !Array.isArray(value) || isMatch(value)) return false
  for (let place = 0; place < value.length; place++) {
    if (!isSimple(value[place], depth + 1)) return false
  }
  return true
}

/** Bytes of text, a number, a boolean or null; a negative number for anything else, and for text without a UTF-8 form. */
function weighSimple(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? weight.weighString(value) : -1
    case 'number':
      return (value | 0) === value ? 0 : weight.NUMBER
    case 'boolean':
      return 0
    default:
      return value === null ? 0 : -1
  }
}

/** Like those of `weigh.ts`, for what comes back as it is; negative for anything else. */
function weighFields(object: object): number {
  let bytes = weight.OBJECT
  let count = 0
  for (const key in object) {
    const value = weighSimple((object as Record<string, unknown>)[key])
    if (value < 0 || !key.isWellFormed()) return -1
    bytes += value
    count++
  }
  return bytes + weight.weighSlots(count)
}

function weighElements(array: readonly unknown[]): number {
  const { length } = array
  let bytes = weight.ARRAY + weight.SLOT * length
  for (let place = 0; place < length; place++) {
    const value = array[place]
    // As `weigh.ts` does: numbers of a list stand there without a box.
    if (typeof value === 'number') continue
    const one = weighSimple(value)
    if (one < 0) return -1
    bytes += one
  }
  return bytes
}
