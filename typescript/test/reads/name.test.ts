import { expect, it } from 'vitest'
import { Calls } from '../../src/reads/name.ts'

const GIVEN: readonly (readonly unknown[])[] = [
  ['k', '-', '+'],
  ['k', '-', '+', 'COUNT', 1],
  ['k', '-', '+', 'COUNT', '1'],
  ['k', '-+'],
  ['k', '-', '+s1:'],
  ['k'],
  ['k2', '-', '+'],
  [['k', '-'], '+'],
  [Buffer.from('k'), '-', '+'],
  ['k', '-', '+', { COUNT: 1 }],
  ['k', '-', '+', { COUNT: 2 }],
  [],
  [undefined],
]

it('tells calls apart, and knows them again', () => {
  const calls = new Calls('xrange')
  const made = GIVEN.map((given) => calls.of(given))
  expect(new Set(made).size).toBe(GIVEN.length)
  for (const [at, given] of GIVEN.entries()) expect(calls.of([...given])).toBe(made[at])
  expect(new Calls('xrevrange').of(['k'])).not.toBe(calls.of(['k']))
})

it('sees that a list or an object has changed', () => {
  const calls = new Calls('mget')
  const keys = ['a']
  const before = calls.of([keys])
  keys.push('b')
  expect(calls.of([keys])).not.toBe(before)
})

it('knows more keys than it remembers', () => {
  const calls = new Calls('get')
  const keys = Array.from({ length: 3000 }, (_, number) => `key ${number}`)
  const made = keys.map((key) => calls.of([key]))
  expect(new Set(made).size).toBe(keys.length)
  for (const [at, key] of keys.entries()) expect(calls.of([key])).toBe(made[at])
})
