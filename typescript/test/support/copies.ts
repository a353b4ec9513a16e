/** Copies by one cloner, for tests of what is kept and what is refused. */
import { expect } from 'vitest'
import { UnsupportedValue } from '../../src/index.ts'
import { Cloner } from '../../src/memory/clone.ts'
import { copyOut } from '../../src/memory/plan.ts'
import { failure } from './failure.ts'

export const cloner: Cloner = new Cloner()

/** In and out again. */
export function copied<T>(value: T): T {
  const stored = cloner.copyIn(value)
  return copyOut(stored, cloner.plan) as T
}

export function refusedAt(value: unknown): string | undefined {
  const thrown = failure(() => cloner.copyIn(value))
  expect(thrown).toBeInstanceOf(UnsupportedValue)
  return (thrown as UnsupportedValue).path
}
