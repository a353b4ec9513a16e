import { AS_IS, Cloner, type Plan } from './clone.ts'
import type { Isolation } from './options.ts'
import { weigh } from './weigh.ts'

/** What a cache stores of a value, by its isolation. Results beside the stored value are in fields, without an object for them. */
export class Keeper {
  /** How the last value is handed out: see `copyOut`. */
  plan: Plan = AS_IS
  /** Bytes that the last value weighs. */
  weight = 0
  readonly #isolation: Isolation
  readonly #weighs: boolean
  readonly #cloner: Cloner

  constructor(
    isolation: Isolation,
    weighs: boolean,
    cloneInstance: ((instance: object) => object) | undefined,
  ) {
    this.#isolation = isolation
    this.#weighs = weighs
    this.#cloner = new Cloner({ cloneInstance })
  }

  /** @throws UnsupportedValue */
  keep(value: unknown): unknown {
    if (this.#isolation === 'none') {
      if (this.#weighs) this.weight = quickWeight(value)
      return value
    }
    const cloner = this.#cloner
    const kept = cloner.copyIn(value)
    this.weight = cloner.weight
    this.plan = cloner.plan
    return kept
  }
}

function quickWeight(value: unknown): number {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    let weight = 24
    for (const key in value) {
      const part = (value as Record<string, unknown>)[key]
      if (typeof part === 'string') weight += part.length > 64 ? 32+part.length : 32 + 2 * part.length
      else if (typeof part === 'number' || typeof part === 'boolean') weight += 16
      else return weigh(value)
    }
    return weight
  }
  return weigh(value)
}
