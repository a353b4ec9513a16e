import { Named } from '../entry/named.ts'
import { decode, type Types, type Way } from '../entry/registered.ts'
import { copyOut, GRAPH, type Plan } from './plan.ts'
import type { Graph } from './stored.ts'

/** A value of a registered type as a cache keeps it: what `encode` made of it. Part of a `Graph`. */
export class Kept {
  /** Bytes that it weighs. */
  readonly weight: number
  readonly #name: string
  readonly #stored: unknown
  readonly #plan: Plan
  readonly #types: Types | undefined

  constructor(name: string, stored: unknown, plan: Plan, weight: number, types: Types | undefined) {
    this.weight = weight
    this.#name = name
    this.#stored = stored
    this.#plan = plan
    this.#types = types
  }

  /**
   * What a reader gets; runs the user's code.
   * @throws WrongType
   */
  copy(way: Way): unknown {
    const stored = this.#stored
    const value = this.#plan === GRAPH ? (stored as Graph).copy(way) : copyOut(stored, this.#plan)
    return decode(new Named(this.#name, value), this.#types, way)
  }
}

/** Freezes what can be frozen: a typed array is not. */
export function freeze(value: unknown): void {
  try {
    Object.freeze(value)
  } catch {}
}
