/**
 * Isolation by copies: what a cache stores, and each value that it hands out, is a copy of its own.
 *
 * Kept as they are: all primitives but symbols; arrays with their holes; plain objects with their own enumerable
 * properties, text and symbol keys, also `__proto__`; objects without a prototype; Date, RegExp with `lastIndex`, Map, Set,
 * ArrayBuffer, DataView, all typed arrays, Buffer, boxed primitives, the language's own classes of errors with `name`,
 * `message`, `stack`, `cause`, `errors` and their own enumerable properties. An object that is reached twice is one object
 * in the copy too; cycles are kept.
 *
 * Changed: an accessor is stored as the value that it has at `set`; non-enumerable properties, and extra properties of
 * an array, Date, Map or another built-in object, are left out; a frozen object's copy is not frozen; a proxy becomes
 * what it looks like. A typed array's copy has a buffer of its own, with no more than its bytes, unless the value
 * refers to that buffer in another way as well: then they share one in the copy too. A Buffer's copy always has its own
 * memory.
 *
 * Refused with `UnsupportedValue`: functions, symbols, instances of classes (except with `CloneOptions` and
 * `immutable.ts`), results of regular expressions (`../entry/match.ts`), SharedArrayBuffer and views on one, resizable
 * and detached buffers, WeakMap, Promise and the like.
 *
 * Why not `structuredClone`: it lacks symbols, properties of error classes and weighing, and goes through a serialized
 * form. On Node 24 a hit takes 27 ns here and 1,012 with a Map and `structuredClone` for a small object, 623 and
 * 9,532 for a large one, 1,230 and 41,050 for 100 objects; on Bun 1.4 31 and 448, 536 and 8,146, 1,919 and 34,020
 * (`make bench-memory`).
 */
import { refused } from '../entry/path.ts'
import type { Types, Way } from '../entry/registered.ts'
import { type Copier, TO_THE_VALUE } from './copier.ts'
import { describe, safeKindOf } from './describe.ts'
import { Kind } from './kind.ts'
import { AS_IS, type Plan } from './plan.ts'
import { copyPlain, placeOf } from './shape.ts'
import type { CloneInstance } from './stored.ts'
import { Walk } from './walk.ts'
import { weigh, weighFields, weighPrimitive } from './weigh.ts'

export interface CloneOptions {
  /**
   * Copies an instance of a class that would be refused. It returns undefined for one that it does not know, and the
   * instance itself for one that never changes. Called at `set`, and with the stored copy at each `get`.
   */
  readonly cloneInstance?: CloneInstance | undefined
  /** Instances of these classes are encoded and decoded. */
  readonly types?: Types | undefined
}

/** Copies values into a cache. One for each cache; it gives its results in `plan` and `weight`, without an object for them. */
export class Cloner implements Copier {
  /** How the value of the last `copyIn` is copied out. */
  plan: Plan = AS_IS
  /** Bytes of memory that it takes (`weigh.ts`), with what is kept beside it to copy it out. */
  weight = 0

  readonly cloneInstance: CloneInstance | undefined
  readonly types: Types | undefined
  level = 0
  readonly #walk: Walk
  #walking = false

  constructor(options: CloneOptions = {}) {
    this.cloneInstance = options.cloneInstance
    this.types = options.types
    this.#walk = new Walk(this, false)
  }

  /**
   * What a cache stores of a value; `way` leads to the value. It is handed out by `copyOut` only.
   * @throws UnsupportedValue with the path to what cannot be copied; what a getter or `cloneInstance` throws.
   */
  copyIn(value: unknown, way: Way = TO_THE_VALUE): unknown {
    const primitive = weighPrimitive(value)
    if (primitive >= 0) {
      this.plan = AS_IS
      this.weight = primitive
      return value
    }
    if (typeof value !== 'object') throw refused(way(), describe(value))
    const object = value as object
    const kind = safeKindOf(object)
    if (kind !== Kind.Plain) return this.#copyObject(object, kind, undefined, 0, way)
    const place = placeOf(object)
    const copy = copyPlain(object, place)
    const bytes = weighFields(copy)
    if (bytes >= 0 && Object.getOwnPropertySymbols(copy).length === 0) {
      this.plan = place
      this.weight = bytes
      return copy
    }
    return this.#copyObject(object, kind, copy, place, way)
  }

  #copyObject(
    value: object,
    kind: Kind,
    copy: object | undefined,
    place: number,
    way: Way,
  ): unknown {
    if (kind === Kind.Immutable) {
      this.plan = AS_IS
      this.weight = weigh(value)
      return value
    }
    // A getter, a proxy or `cloneInstance` may come here again.
    const walk = this.#walking ? new Walk(this, false) : this.#walk
    this.#walking = true
    try {
      walk.run(value, kind, copy, place, way)
      const stored = walk.stored()
      this.plan = walk.plan
      this.weight = walk.weight
      return stored
    } finally {
      walk.reset()
      if (walk === this.#walk) this.#walking = false
    }
  }
}
