import { copyPlain } from './shape.ts'
import type { Graph, Tree } from './stored.ts'

/**
 * How `copyOut` makes a copy of what is stored; a small integer. 0 to 31: a plain object of primitives, and its place in
 * `copyPlain`.
 */
export type Plan = number
/** Handed out as it is. */
export const AS_IS: Plan = 32
/** An array of primitives. */
export const FLAT_ARRAY: Plan = 33
/** A `Tree`. */
export const TREE: Plan = 34
/** A `Graph`. */
export const GRAPH: Plan = 35

/** A copy of a stored value, by the plan that `Cloner.copyIn` gave with it. */
export function copyOut(stored: unknown, plan: Plan): unknown {
  if (plan < AS_IS) return copyPlain(stored as object, plan)
  if (plan === AS_IS) return stored
  if (plan === FLAT_ARRAY) return (stored as unknown[]).slice()
  return plan === TREE ? (stored as Tree).copy() : (stored as Graph).copy()
}
