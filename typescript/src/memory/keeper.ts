import type { Types } from '../entry/registered.ts'
import { type CloneOptions, Cloner } from './clone.ts'
import { Freezer } from './freeze.ts'
import type { Isolation } from './options.ts'
import { AS_IS, type Plan } from './plan.ts'
import { weigh } from './weigh.ts'

/** What is stored of a value, by the isolation. Further results are left in fields, for speed. */
export class Keeper {
  /** How the last value is handed out: see `copyOut`. */
  plan: Plan = AS_IS
  /** Bytes that the last value weighs. */
  weight = 0
  /** Whether a reader of the last value gets something other than what was stored, as far as that is known. */
  converted: boolean
  readonly #copier: Cloner | Freezer | undefined
  readonly #weighs: boolean

  constructor(
    isolation: Isolation,
    weighs: boolean,
    cloneInstance: CloneOptions['cloneInstance'],
    types?: Types,
  ) {
    if (isolation === 'clone') this.#copier = new Cloner({ cloneInstance, types })
    if (isolation === 'freeze') this.#copier = new Freezer(types)
    // A frozen copy is never the given object.
    this.converted = isolation === 'freeze' || (isolation === 'clone' && types !== undefined)
    this.#weighs = weighs
  }

  /** @throws UnsupportedValue */
  keep(value: unknown): unknown {
    const copier = this.#copier
    if (copier === undefined) {
      if (this.#weighs) this.weight = weigh(value)
      return value
    }
    const kept = copier.copyIn(value)
    this.plan = copier.plan
    this.weight = copier.weight
    return kept
  }
}
