/** Who keeps a representation counts what it comes to hold. */
import type { Representation } from './representation.ts'

const counted = new WeakMap<Representation, () => void>()

/** Has `count` called each time that a representation holds more than before: a variant, or what documents around it have in common. */
export function whenGrown(representation: Representation, count: () => void): void {
  counted.set(representation, count)
}

/** It holds more than before. */
export function grown(representation: Representation): void {
  counted.get(representation)?.()
}
