/** What would be lost is refused, with a directory and without one: properties of arrays, and what extends a built-in class. */
import vm from 'node:vm'
import { describe, expect, test } from 'vitest'
import { Cache, UnsupportedValue } from '../src/index.ts'
import { open } from './support/caches.ts'
import { failure } from './support/failure.ts'

type Any = ReturnType<typeof JSON.parse>

class Rows extends Array {}
class Table extends Map<string, number> {}
class Tags extends Set {}
class Day extends Date {}
class Bytes extends Uint8Array {}

function named<T extends object>(object: T, value: unknown = 1): T {
  return Object.assign(object, { total: value })
}

const CACHES: [string, () => Cache][] = [
  ['over a directory', () => open()],
  ['over a directory, frozen in memory', () => open({ memory: { isolation: 'freeze' } })],
  ['over a directory, as JSON', () => open({ serializer: 'json' })],
  ['in memory', () => new Cache({})],
  ['in memory, frozen', () => new Cache({ memory: { isolation: 'freeze' } })],
]

const REFUSED: [string, () => unknown][] = [
  ['what match gives', () => 'abc'.match(/(?<x>b)/)],
  ['what exec gives', () => /b/d.exec('abc')],
  ['one of what matchAll gives', () => [...'abc'.matchAll(/b/g)][0]],
  ['a class that extends Array', () => Rows.from([1, 2])],
  ['a class that extends Map', () => new Table([['k', 1]])],
]
/** JSON does not have these at all. */
const REFUSED_AS_TYPES: [string, () => unknown][] = [
  ['a class that extends Set', () => new Tags([1])],
  ['a class that extends Date', () => new Day(0)],
  ['a class that extends Uint8Array', () => new Bytes(2)],
]

describe.each(CACHES)('%s', (_, make) => {
  test.each([...REFUSED, ...REFUSED_AS_TYPES])('%s is refused, with the path', (_, value) => {
    const cache = make()
    cache.setSync('k', 'old')
    for (const [held, path] of [
      [value(), '$'],
      [{ rows: [value()] }, '$.rows[0]'],
    ] as const) {
      const error = failure(() => cache.setSync('k', held)) as UnsupportedValue
      expect(error).toBeInstanceOf(UnsupportedValue)
      expect(error.path).toBe(path)
    }
    expect(cache.getSync('k')).toBe('old')
  })

  test('lists of this realm and of another one are lists', () => {
    const cache = make()
    const lists = [[], [1, 'a', null], Array.from({ length: 100 }, (_, place) => ({ place }))]
    for (const list of [...lists, vm.runInNewContext('[1, [2]]')]) {
      cache.setSync('k', list)
      expect(cache.getSync('k')).toEqual(structuredClone(list))
    }
  })
})

test('other properties of built-in objects are left out, as JSON leaves them out', () => {
  for (const cache of [open(), new Cache({})]) {
    for (const value of [[1, 2], new Map([['k', 1]]), new Set([1]), new Date(0)]) {
      cache.setSync('k', named(value))
      expect((cache.getSync('k') as Any).total).toBeUndefined()
    }
  }
})

test('a property added to all arrays is not a property of one', () => {
  const prototype = Array.prototype as Any
  prototype.index = 1
  try {
    for (const [, make] of CACHES) {
      const cache = make()
      cache.setSync('k', [1])
      expect(cache.getSync('k')).toEqual([1])
    }
  } finally {
    Reflect.deleteProperty(prototype, 'index')
  }
})
