/**
 * Isolation by freezing: a cache stores a copy of which nobody can change anything, and hands that one out to everybody.
 *
 * What `clone.ts` keeps is kept, but for the objects that `Object.freeze` does not protect, which are refused: Date, Map,
 * Set, ArrayBuffer, Buffer, typed arrays, DataView, RegExp, and instances of classes that are not marked as never changed
 * (`immutable.ts`).
 */
import { refused } from '../entry/path.ts'
import { Kind } from './kind.ts'
import { AS_IS, type Plan } from './plan.ts'
import { describe, safeKindOf, Walk } from './walk.ts'
import { weigh, weighPrimitive } from './weigh.ts'

/** Copies values into a cache and freezes the copies. One for each cache; used like a `Cloner`. */
export class Freezer {
  /** Every value is handed out as it is stored. */
  readonly plan: Plan = AS_IS
  /** Bytes of memory that the value of the last `copyIn` takes (`weigh.ts`). */
  weight = 0

  readonly #walk = new Walk(undefined, true)
  #walking = false

  /**
   * A deeply frozen copy of a value; the value itself is not frozen.
   * @throws UnsupportedValue with the path to what cannot be frozen; what a getter throws.
   */
  copyIn(value: unknown): unknown {
    const primitive = weighPrimitive(value)
    if (primitive >= 0) {
      this.weight = primitive
      return value
    }
    if (typeof value !== 'object') throw refused([], describe(value))
    const object = value as object
    const kind = safeKindOf(object)
    if (kind === Kind.Immutable) {
      this.weight = weigh(object)
      return object
    }
    // A getter or a proxy may come here again.
    const walk = this.#walking ? new Walk(undefined, true) : this.#walk
    this.#walking = true
    try {
      walk.run(object, kind, undefined, 0)
      this.weight = walk.weight
      return walk.frozen()
    } finally {
      walk.reset()
      if (walk === this.#walk) this.#walking = false
    }
  }
}
