import type { Named } from '../entry/named.ts'
import { namedOf, type Types, type Way } from '../entry/registered.ts'
import type { Plan } from './plan.ts'
import type { CloneInstance } from './stored.ts'

/** The way of a value that is not part of another. */
export const TO_THE_VALUE: Way = () => []

/** What makes walks: a `Cloner` or a `Freezer`. */
export interface Copier {
  readonly types: Types | undefined
  readonly cloneInstance: CloneInstance | undefined
  readonly plan: Plan
  readonly weight: number
  /** How many registered types are around what is copied. */
  level: number
  copyIn(value: unknown, way: Way): unknown
}

/** Like `namedOf`; a revoked proxy, which cannot even be asked, has no type. */
export function namedIn(value: object, types: Types | undefined, way: Way): Named | undefined {
  try {
    Object.getPrototypeOf(value)
  } catch {
    return undefined
  }
  return namedOf(value, types, way)
}
