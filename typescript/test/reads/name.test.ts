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

it('tells bytes of one kind from those of another, and a hole from the end of a list', () => {
  const calls = new Calls('get')
  const all = [[Buffer.from('a')], [new Uint8Array([97])], [['a', undefined]], [[undefined, 'a']]]
  // biome-ignore lint/suspicious/noSparseArray: a hole is one more word
  const holes = [[['a', ,]], [[, 'a']]]
  const made = all.map((given) => calls.of(given))
  expect(new Set(made).size).toBe(all.length)
  expect(holes.map((given) => calls.of(given))).toEqual(made.slice(2))
})

class Id {
  readonly #id = 'a'
  toString(): string {
    return this.#id
  }
}

it.each([
  [new Id()],
  [new URL('a:b')],
  [new Date(0)],
  [new Map()],
  [Object.create(Buffer.prototype)],
  [new Uint16Array(1)],
  [{ toString: () => 'a' }],
  [{ [Symbol.toPrimitive]: 'a' }],
  [Object.defineProperty({}, 'toString', { value: String })],
  [() => 'a'],
  [Symbol('a')],
  [['k', [new Id()]]],
  [{ keys: [new Id()] }],
])('has no text for what is sent in a way of its own (%#)', (one) => {
  const calls = new Calls('get')
  expect(calls.of(['k', one])).toBeUndefined()
  expect(calls.of([one])).toBeUndefined()
})

it('tells calls apart by their words', () => {
  const calls = new Calls('get')
  const all = [
    ['get', 'a:b'],
    ['get', 'a', ':b'],
    ['get', Buffer.from('a:b')],
  ]
  expect(new Set(all.map((words) => calls.ofWords(words))).size).toBe(all.length)
  expect(calls.ofWords(['get', 'a:b'])).toBe(calls.ofWords(['get', 'a:b']))
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
