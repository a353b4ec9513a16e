/**
 * Isolation by freezing: a cache stores a copy that cannot be changed, and hands it out to all callers.
 *
 * What `clone.ts` keeps is kept, except objects that `Object.freeze` does not protect, which are refused: Date, Map,
 * Set, ArrayBuffer, Buffer, typed arrays, DataView, RegExp, and instances of classes that are not marked as never
 * changed (`immutable.ts`).
 */
import { refused } from '../entry/path.ts'
import type { Types, Way } from '../entry/registered.ts'
import { type Copier, TO_THE_VALUE } from './copier.ts'
import { describe, safeKindOf } from './describe.ts'
import { Kind } from './kind.ts'
import { AS_IS, type Plan } from './plan.ts'
import { Walk } from './walk.ts'
import { weigh, weighPrimitive } from './weigh.ts'

/** Copies values into a cache and freezes the copies. One for each cache; used like a `Cloner`. */
export class Freezer implements Copier {
  /** How the value of the last `copyIn` is handed out: as it is stored, unless it holds values of registered types. */
  plan: Plan = AS_IS
  /** Bytes of memory that the value of the last `copyIn` takes (`weigh.ts`). */
  weight = 0

  readonly types: Types | undefined
  readonly cloneInstance = undefined
  level = 0
  readonly #walk: Walk
  #walking = false

  constructor(types?: Types) {
    this.types = types
    this.#walk = new Walk(this, true)
  }

  /**
   * A deeply frozen copy of a value; `way` leads to the value, which is not frozen itself.
   * @throws UnsupportedValue with the path to what cannot be frozen; what a getter throws.
   */
  copyIn(value: unknown, way: Way = TO_THE_VALUE): unknown {
    this.plan = AS_IS
    const primitive = weighPrimitive(value)
    if (primitive >= 0) {
      this.weight = primitive
      return value
    }
    if (typeof value !== 'object') throw refused(way(), describe(value))
    const object = value as object
    const kind = safeKindOf(object)
    if (kind === Kind.Immutable) {
      this.weight = weigh(object)
      return object
    }
    // A getter or a proxy may come here again.
    const walk = this.#walking ? new Walk(this, true) : this.#walk
    this.#walking = true
    try {
      walk.run(object, kind, undefined, 0, way)
      const stored = walk.isMade ? walk.stored() : walk.frozen()
      // Parts of it came through here as well.
      this.plan = walk.isMade ? walk.plan : AS_IS
      this.weight = walk.weight
      return stored
    } finally {
      walk.reset()
      if (walk === this.#walk) this.#walking = false
    }
  }
}
