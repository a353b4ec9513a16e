/** The golden vectors of `spec/eviction.md`: which entries go, decision by decision. */
import { describe, expect, test } from 'vitest'
import { MemoryCache } from '../../src/memory/index.ts'
import { readSpec } from '../support/spec.ts'

type Step = ['get' | 'delete', number, boolean] | ['set', number, number[]] | ['resident', number[]]

interface Sequence {
  capacity: number
  steps: Step[]
}

describe('2q-clock evicts what its golden vectors say', () => {
  for (const [number, { capacity, steps }] of readSpec<Sequence[]>(
    'vectors/eviction.json',
  ).entries()) {
    test(`sequence ${number}, ${capacity} entries`, () => {
      const cache = new MemoryCache<number, number>({ maxEntries: capacity })
      let evicted: number[] = []
      cache.on('evicted', (key) => evicted.push(key))
      for (const [at, step] of steps.entries()) {
        evicted = []
        expect(
          answer(cache, step, () => evicted),
          `step ${at}: ${step[0]} ${step[1]}`,
        ).toEqual(step.at(-1))
      }
    })
  }
})

function answer(cache: MemoryCache<number, number>, step: Step, evicted: () => number[]): unknown {
  switch (step[0]) {
    case 'get':
      return cache.get(step[1]) === step[1]
    case 'delete':
      return cache.delete(step[1])
    case 'set':
      cache.set(step[1], step[1])
      return evicted()
    case 'resident':
      return [...cache.keys()].sort((one, other) => one - other)
  }
}
