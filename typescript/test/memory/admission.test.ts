/** Which values a memory tier without room keeps: `spec/memory.md`, "Admission". */
import { describe, expect, test } from 'vitest'
import type { Cache } from '../../src/index.ts'
import { open } from '../support/caches.ts'
import { readSpec } from '../support/spec.ts'

type Step = ['read', number, number, number] | ['write' | 'delete', number]

interface Case {
  about: string
  max_entries: number
  steps: Step[]
}

function run(cache: Cache, step: Step): number | undefined {
  if (step[0] === 'write') cache.setSync(String(step[1]), `value ${step[1]}`)
  if (step[0] === 'delete') cache.deleteSync(String(step[1]))
  if (step[0] !== 'read') return undefined
  const before = cache.statsSync().memoryHits
  for (let key = step[1]; key <= step[2]; key++) {
    expect(cache.getSync(String(key))).toBe(`value ${key}`)
  }
  return cache.statsSync().memoryHits - before
}

for (const policy of ['2q-clock', 'lru'] as const) {
  describe(`with the policy ${policy}`, () => {
    for (const { about, max_entries, steps } of readSpec<Case[]>('vectors/admission.json')) {
      test(about, () => {
        const cache = open({ memory: { maxEntries: max_entries, policy } })
        for (let key = 0; key < 200; key++) cache.setSync(String(key), `value ${key}`)
        for (const step of steps) expect(run(cache, step), String(step)).toBe(step[3])
      })
    }
  })
}

test('a value that is turned away is the caller’s own, or a frozen one', () => {
  for (const [isolation, isFrozen] of [
    ['clone', false],
    ['freeze', true],
  ] as const) {
    const cache = open({ memory: { maxEntries: 1, isolation } })
    for (const key of ['a', 'b']) cache.setSync(key, { list: [1] })
    cache.getSync('a')
    const read = cache.getSync('b') as { list: number[] }
    expect([Object.isFrozen(read), Object.isFrozen(read.list)]).toEqual([isFrozen, isFrozen])
    // What has no frozen form is given as it is.
    cache.setSync('b', new Date(0))
    expect(cache.getSync('b')).toEqual(new Date(0))
  }
})
