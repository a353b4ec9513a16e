/** `spec/http/compressed-types.json`. */
import { expect, test } from 'vitest'
import { FAMILIES, isCompressed, TYPES } from '../../src/http/compressed-types.ts'
import { readSpec } from '../support/spec.ts'

interface Spec {
  readonly types: string[]
  readonly families: string[]
  readonly others: string[]
}

test('they are those of the specification', () => {
  const { types, families, others } = readSpec<Spec>('http/compressed-types.json')
  expect([...TYPES]).toEqual(types)
  expect([...FAMILIES]).toEqual(families)
  for (const type of [...types, ...families.map((one) => `${one}/x-any`)])
    expect([type, isCompressed(type)]).toEqual([type, true])
  for (const type of others) expect([type, isCompressed(type)]).toEqual([type, false])
})
