/** Isolation by freezing: what is handed out is one copy that cannot be changed. */
import { describe, expect, test } from 'vitest'
import { Decimal, UnsupportedValue } from '../../src/index.ts'
import { Freezer } from '../../src/memory/freeze.ts'
import { AS_IS, copyOut } from '../../src/memory/plan.ts'
import { failure } from '../support/failure.ts'
import { randomGraph } from '../support/graphs.ts'
import { difference } from '../support/isomorphic.ts'
import { Random } from '../support/random.ts'

type Any = ReturnType<typeof JSON.parse>

const freezer = new Freezer()

function frozen<T>(value: T): T {
  return freezer.copyIn(value) as T
}

function refusedAt(value: unknown): string {
  const thrown = failure(() => freezer.copyIn(value))
  expect(thrown).toBeInstanceOf(UnsupportedValue)
  return (thrown as UnsupportedValue).path
}

/** Every object that a value reaches under text and symbol keys. */
function allObjects(value: unknown): Set<object> {
  const found = new Set<object>()
  const add = (part: unknown) => {
    if (typeof part === 'object' && part !== null) found.add(part)
  }
  add(value)
  for (const object of found) for (const key of Reflect.ownKeys(object)) add((object as Any)[key])
  return found
}

const VALUES: Record<string, unknown> = {
  text: 'text',
  null: null,
  'a flat object': { a: 1, b: undefined },
  'a flat array': [1, 2.5, 'x'],
  'an array with holes': Object.assign(new Array(5), { 2: { a: [] } }),
  'a tree': { a: { b: [{ c: 1 }, []] } },
  'keys of JSON': JSON.parse('{"__proto__":{"a":{}},"constructor":{"b":1}}'),
  'an object without a prototype': Object.assign(Object.create(null), { a: { b: 1 } }),
  'a symbol key': { [Symbol.iterator]: { a: {} } },
  'an Error': new RangeError('no', { cause: { why: [1] } }),
  'boxed primitives': [Object(1), Object('text')],
}

test.each(Object.entries(VALUES))('%s', (_, value) => {
  const copy = frozen(value)
  expect(difference(copy, value)).toBeUndefined()
  const sources = allObjects(value)
  for (const object of allObjects(copy)) {
    expect(Object.isFrozen(object)).toBe(true)
    expect(sources.has(object)).toBe(false)
  }
  for (const source of sources) {
    if (!(source instanceof String)) expect(Object.isFrozen(source)).toBe(false)
  }
  expect(copyOut(copy, freezer.plan)).toBe(copy)
  expect(freezer.plan).toBe(AS_IS)
  expect(freezer.weight).toBeGreaterThanOrEqual(0)
})

test('shared references and cycles', () => {
  const shared = {}
  const value: Any = { list: [shared, shared, ...Array.from({ length: 20 }, () => [shared])] }
  value.self = value
  const copy = frozen(value)
  expect(copy.self).toBe(copy)
  expect(copy.list[0]).toBe(copy.list[21][0])
  expect(difference(copy, value)).toBeUndefined()
})

test('random graphs', () => {
  for (let seed = 1; seed <= 1000; seed++) {
    const value = randomGraph(new Random(seed), 'json')
    const copy = frozen(value)
    const found = difference(copy, value)
    if (found !== undefined) throw new Error(`seed ${seed}: ${found}`)
    for (const object of allObjects(copy)) expect(Object.isFrozen(object)).toBe(true)
    for (const object of allObjects(value)) expect(Object.isFrozen(object)).toBe(false)
  }
})

test('a change throws, and the source can be changed', () => {
  const source = { a: { b: [1] } }
  const copy = frozen(source)
  source.a.b.push(2)
  expect(copy).toEqual({ a: { b: [1] } })
  expect(() => copy.a.b.push(3)).toThrow(TypeError)
  expect(() => {
    copy.a = { b: [] }
  }).toThrow(TypeError)
})

test('immutable instances are kept', () => {
  const decimal = new Decimal('1')
  expect(frozen(decimal)).toBe(decimal)
  expect(frozen([{ decimal }])[0].decimal).toBe(decimal)
})

test('a getter that freezes a value itself disturbs nothing', () => {
  const value = {
    get inner() {
      return frozen([{ a: {} }])
    },
    after: [{ b: 1 }],
  }
  expect(frozen([value])).toEqual([{ inner: [{ a: {} }], after: [{ b: 1 }] }])
})

test('100,000 levels', () => {
  let value: unknown = 'core'
  for (let level = 0; level < 100_000; level++) value = [value]
  let copy: unknown = frozen(value)
  while (Array.isArray(copy)) copy = Object.isFrozen(copy) && copy[0]
  expect(copy).toBe('core')
})

describe('what cannot be frozen', () => {
  test.each<[string, unknown]>([
    ['Date', new Date()],
    ['RegExp', /a/],
    ['Map', new Map()],
    ['Set', new Set()],
    ['ArrayBuffer', new ArrayBuffer(1)],
    ['Uint8Array', new Uint8Array(1)],
    ['DataView', new DataView(new ArrayBuffer(1))],
    ['Buffer', Buffer.from('a')],
    ['an instance', new (class Point {})()],
    ['a function', () => 1],
    ['a symbol', Symbol('a')],
  ])('%s', (_, value) => {
    expect(refusedAt(value)).toBe('$')
    expect(refusedAt({ a: [0, { b: value }] })).toBe('$.a[1].b')
    expect(frozen([{}])).toEqual([{}])
  })

  test('the message says what to do', () => {
    expect(() => frozen({ a: new Date() })).toThrow(
      'cannot store the value at $.a: a Date cannot be frozen: isolation by clone keeps it',
    )
  })
})
