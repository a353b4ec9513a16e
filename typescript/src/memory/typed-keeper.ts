import { isMatch } from '../entry/match.ts'
import { MAX_DEPTH } from '../entry/messagepack/limits.ts'
import { readMessagePack } from '../entry/messagepack/read.ts'
import { MessagePackWriter } from '../entry/messagepack/write.ts'
import type { Types } from '../entry/registered.ts'
import { Unrevived } from '../entry/revive.ts'
import { Scratch } from '../entry/scratch.ts'
import { Keeper } from './keeper.ts'
import type { Isolation } from './options.ts'
import { AS_IS, FLAT_ARRAY, type Plan, TREE } from './plan.ts'
import { copyArray, copyPlain, isSparse, placeOf } from './shape.ts'
import { ARRAY_CODE, type Code, HOLDS_OBJECTS, Tree, textOf } from './stored.ts'
import * as weight from './weigh.ts'

/** A `Tree` and its text. */
const TREE_BYTES = 64
/** A value with more objects is written and read: it may be a cycle. */
const MOST_OBJECTS = 100_000

/**
 * What a cache without a directory stores: what one with a directory would give back (`spec/entry.md`, "Type map").
 * Most values are plain objects and lists of text, numbers, booleans and null, which come back unchanged. All others
 * are written and read as a directory's entries are, so that the two agree on every value and every refusal.
 */
export class TypedKeeper extends Keeper {
  readonly #freezes: boolean
  readonly #types: Types | undefined
  /** Those that write the registered types. */
  readonly #writers: MessagePackWriter[]

  constructor(isolation: Isolation, weighs: boolean, types: Types | undefined) {
    super(isolation, weighs, undefined, types)
    this.#types = types
    this.#writers = types === undefined ? writers : []
    this.#freezes = isolation === 'freeze'
  }

  override keep(value: unknown): unknown {
    this.converted = this.#freezes
    const bytes = weighSimple(value)
    if (bytes >= 0) return this.#kept(value, AS_IS, bytes)
    const kept = typeof value === 'object' ? this.#keepSimple(value as object) : undefined
    return kept ?? super.keep(this.#convert(value))
  }

  /** Undefined for what may not come back as it is. */
  #keepSimple(value: object): unknown {
    if (Object.getPrototypeOf(value) !== Object.prototype) {
      const copy = copyOf(value) as unknown[] | undefined
      const bytes = copy === undefined ? -1 : weighElements(copy)
      return bytes >= 0 ? this.#kept(copy, FLAT_ARRAY, bytes) : copy && this.#keepTree(copy)
    }
    const place = placeOf(value)
    const copy = copyPlain(value, place)
    if (Object.getOwnPropertySymbols(copy).length > 0) return undefined
    const bytes = weighFields(copy as Record<string, unknown>)
    return bytes >= 0 ? this.#kept(copy, place, bytes) : this.#keepTree(copy)
  }

  #kept(kept: unknown, plan: Plan, bytes: number): unknown {
    this.plan = plan
    this.weight = bytes
    if (this.#freezes && plan !== AS_IS) {
      this.plan = AS_IS
      Object.freeze(kept)
    }
    return kept
  }

  /**
   * Lists and plain objects within each other; the first is a copy already. It goes level by level, as a `Tree` does.
   * Undefined when there is anything else.
   */
  #keepTree(root: object): unknown {
    const copies: object[] = [root]
    const codes: Code[] = [codeOf(root)]
    let bytes = 0
    let lastOfLevel = 0
    let depth = 1
    for (let node = 0; node < copies.length; node++) {
      const holder = copies[node]
      const before = copies.length
      const own = Array.isArray(holder)
        ? spreadList(holder, copies, codes)
        : spreadFields(holder as Record<string, unknown>, copies, codes)
      if (own < 0 || copies.length > MOST_OBJECTS) return undefined
      bytes += own
      if (copies.length > before) codes[node] |= HOLDS_OBJECTS
      if (node === lastOfLevel && copies.length > node + 1) {
        lastOfLevel = copies.length - 1
        if (++depth > MAX_DEPTH) return undefined
      }
    }
    if (this.#freezes) {
      for (const copy of copies) Object.freeze(copy)
      return this.#kept(root, AS_IS, bytes)
    }
    const { length } = copies
    return this.#kept(new Tree(root, textOf(codes, length)), TREE, bytes + TREE_BYTES + length)
  }

  /** What a reader of its entry would be given; a `Named` stands for each value of a registered type. */
  #convert(value: unknown): unknown {
    const writers = this.#writers
    // A getter or an `encode` may come here again.
    const writer = writers.pop() ?? new MessagePackWriter(this.#types)
    try {
      const length = writer.write(value)
      scratch.reserve(length)
      scratch.bytes.set(writer.bytes.subarray(0, length))
      this.converted = this.#freezes || writer.converted
      const read = readMessagePack(scratch, 0, length, Number.POSITIVE_INFINITY)
      return read instanceof Unrevived ? read.value : read
    } finally {
      writer.trim()
      writers.push(writer)
      scratch.trim()
    }
  }
}

const writers: MessagePackWriter[] = []
const scratch = new Scratch()

/** A copy of a plain object or a list, whose parts are still the original's; undefined for anything else. */
function copyOf(value: object): object | undefined {
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype) {
    const copy = copyPlain(value, placeOf(value))
    return Object.getOwnPropertySymbols(copy).length === 0 ? copy : undefined
  }
  if (prototype !== Array.prototype || !Array.isArray(value)) return undefined
  return isMatch(value) || isSparse(value) ? undefined : copyArray(value)
}

function codeOf(copy: object): Code {
  return Array.isArray(copy) ? ARRAY_CODE : placeOf(copy)
}

/** Bytes of a copy whose parts are all simple; negative for any other. */
function weighFields(object: Record<string, unknown>): number {
  let bytes = weight.OBJECT
  let count = 0
  for (const key in object) {
    if (!isText(key)) return -1
    const value = object[key]
    // What most fields are, without a call.
    if (typeof value === 'string') {
      if (!value.isWellFormed()) return -1
      bytes += weight.weighString(value)
    } else if (typeof value === 'number') {
      if ((value | 0) !== value) bytes += weight.NUMBER
    } else if (value !== null && typeof value !== 'boolean') return -1
    count++
  }
  return bytes + weight.weighSlots(count)
}

function weighElements(array: readonly unknown[]): number {
  const { length } = array
  let bytes = weight.ARRAY + weight.SLOT * length
  for (let place = 0; place < length; place++) {
    const value = array[place]
    // As `weigh.ts` does: a list holds numbers without a box.
    if (typeof value === 'number') continue
    const one = weighSimple(value)
    if (one < 0) return -1
    bytes += one
  }
  return bytes
}

/** Copies the objects that a copy still shares with the original, and puts the copies in their place and into the queue. */
function spreadFields(holder: Record<string, unknown>, copies: object[], codes: Code[]): number {
  let bytes = weight.OBJECT
  let count = 0
  for (const key in holder) {
    // Not what Object.prototype was given, which is left to the writer.
    if (!isText(key) || !Object.hasOwn(holder, key)) return -1
    const one = weighSimple(holder[key])
    if (one >= 0) bytes += one
    else {
      const copy = spread(holder[key], copies, codes)
      if (copy === undefined) return -1
      // An own property since the copy was made, also if its name is `__proto__`.
      holder[key] = copy
    }
    count++
  }
  return bytes + weight.weighSlots(count)
}

function spreadList(holder: unknown[], copies: object[], codes: Code[]): number {
  const { length } = holder
  let bytes = weight.ARRAY + weight.SLOT * length
  for (let place = 0; place < length; place++) {
    const one = weighSimple(holder[place])
    if (one >= 0) bytes += one
    else {
      const copy = spread(holder[place], copies, codes)
      if (copy === undefined) return -1
      holder[place] = copy
    }
  }
  return bytes
}

function spread(part: unknown, copies: object[], codes: Code[]): object | undefined {
  const copy = typeof part === 'object' ? copyOf(part as object) : undefined
  if (copy === undefined) return undefined
  copies.push(copy)
  codes.push(codeOf(copy))
  return copy
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

/** Names of fields that were looked at: `isWellFormed` is a call, and takes V8 twice the time. A power of two. */
const names: string[] = new Array(1024).fill('')

/** Whether the name of a field has a UTF-8 form. */
function isText(name: string): boolean {
  const at = (name.length * 37 + name.charCodeAt(0)) & 1023
  return names[at] === name || isNewText(name, at)
}

function isNewText(name: string, at: number): boolean {
  if (!name.isWellFormed()) return false
  // Not a long one, which would stay.
  if (name.length < 64) names[at] = name
  return true
}
