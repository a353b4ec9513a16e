/** Caches with and without a directory take the same values, and the first call agrees with later ones. */
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { Cache, Decimal, UnsupportedValue, Uuid } from '../src/index.ts'
import { open } from './support/caches.ts'
import { failure } from './support/failure.ts'

type Any = ReturnType<typeof JSON.parse>

class Point {
  x = 1
}

function nested(depth: number): Any {
  let value: Any = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

function cycle(): Any {
  const list: Any[] = []
  list.push(list, list)
  return { list }
}

const twice = { a: 1 }
const symbol = Symbol('s')

/** What a reader is given, for what is stored. */
const TAKEN: [string, Any, Any][] = [
  ['text', 'text', 'text'],
  [
    'an object',
    { a: 1, b: 'x', c: null, d: true, e: 1.5 },
    { a: 1, b: 'x', c: null, d: true, e: 1.5 },
  ],
  ['objects in lists', [{ a: [1, { b: [] }] }, {}], [{ a: [1, { b: [] }] }, {}]],
  ['a Map', new Map([['a', new Map([['b', 1]])]]), { a: { b: 1 } }],
  ['a Buffer', { b: Buffer.from('ab') }, { b: new Uint8Array([97, 98]) }],
  ['a small bigint', [5n, -5n], [5, -5]],
  ['a large bigint', [2n ** 60n, 2n ** 70n], [2n ** 60n, 2n ** 70n]],
  [
    'undefined properties',
    { a: undefined, b: { c: undefined, d: 1 }, e: undefined },
    { b: { d: 1 } },
  ],
  ['nothing but undefined properties', { a: undefined }, {}],
  [
    'sixteen properties without one',
    Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [`k${at}`, at === 7 ? undefined : at]),
    ),
    Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [`k${at}`, at]).filter(([, at]) => at !== 7),
    ),
  ],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  [
    'an object of another realm',
    runInNewContext('({ a: [1, new Date(5)] })'),
    { a: [1, new Date(5)] },
  ],
  [
    'a Set and a Date',
    { s: new Set([1, 'a']), d: new Date(5) },
    { s: new Set([1, 'a']), d: new Date(5) },
  ],
  [
    'a Decimal and a UUID',
    [new Decimal('1.50'), new Uuid(new Uint8Array(16))],
    [new Decimal('1.50'), new Uuid(new Uint8Array(16))],
  ],
  ['minus zero', [-0], [-0]],
  [
    'an own __proto__',
    JSON.parse('{"__proto__": {"a": 1}}'),
    JSON.parse('{"__proto__": {"a": 1}}'),
  ],
  ['an object that is reached twice', [twice, twice], [{ a: 1 }, { a: 1 }]],
  ['128 levels', nested(128), nested(128)],
]

/** What is refused, and where. */
const REFUSED: [string, Any, string | undefined][] = [
  ['undefined', undefined, '$'],
  ['a function', { a: [() => 1] }, '$.a[0]'],
  ['undefined in a list', [1, undefined], '$[1]'],
  ['a hole in a list', Object.assign([1], { 2: 2 }), '$[1]'],
  ['undefined in a Map', new Map([['a', undefined]]), '$.a'],
  ['a key that is not text', new Map([[1, 1]]), '$["1"]'],
  ['an instance of a class', { point: new Point() }, '$.point'],
  ['what extends a list', [new (class List extends Array {})()], '$[0]'],
  ['a regular expression', { a: /x/ }, '$.a'],
  ['an error', [new Error('x')], '$[0]'],
  ['a match', ['abc'.match(/b/)], '$[0]'],
  ['a symbol for a key', { a: { [symbol]: 1 } }, '$.a["Symbol(s)"]'],
  ['a symbol', { a: symbol }, '$.a'],
  ['a typed array', { a: new Float64Array(1) }, '$.a'],
  ['half a surrogate pair', { a: ['\ud800'] }, '$.a[0]'],
  ['half a surrogate pair in a key', { b: { '\ud800': 1 } }, '$.b["\\ud800"]'],
  ['a list in a set', new Set([[1]]), '$[0]'],
  ['no date', { d: new Date(Number.NaN) }, '$.d'],
  ['129 levels', nested(129), undefined],
  ['a cycle', cycle(), undefined],
]

const KINDS: [string, (options?: object) => Cache][] = [
  ['over a directory', (options) => open({ memory: false, ...options })],
  ['with the memory tier', (options) => open(options)],
  ['without a directory', (options) => new Cache(options)],
]

describe.each(KINDS)('%s', (_, make) => {
  test.each(TAKEN)('%s is taken, and all calls agree', async (_, value, given) => {
    const cache = make()
    cache.setSync('set', value)
    for (const read of [cache.getSync('set'), cache.getSync('set')]) same(read, given)
    const joined = [1, 2, 3].map(() => cache.getOrSet('loaded', async () => value))
    for (const one of await Promise.all(joined)) same(one, given)
    same(await cache.getOrSet('loaded', () => 'never'), given)
    expect(cache.statsSync().unstored).toBe(0)
  })

  test.each(REFUSED)('%s is refused, where it stands', async (_, value, path) => {
    const cache = make({ storeErrors: 'raise' })
    const refused = failure(() => cache.setSync('k', value)) as UnsupportedValue
    expect(refused).toBeInstanceOf(UnsupportedValue)
    const loaded = await cache.getOrSet('k', () => value).catch((error: unknown) => error)
    expect(loaded).toBeInstanceOf(UnsupportedValue)
    expect((loaded as UnsupportedValue).path).toBe(refused.path)
    if (path !== undefined) expect(refused.path).toBe(path)
    expect(cache.hasSync('k')).toBe(false)
  })

  test('no caller sees a change of what was stored, loaded or read', async () => {
    const cache = make()
    for (const value of [{ a: { b: [1] } }, { a: { b: [1] }, at: new Date(5) }]) {
      const expected = structuredClone(value)
      const loaded = await cache.getOrSet('k', () => value)
      loaded.a.b.push(2)
      value.a.b.push(3)
      ;(cache.getSync('k') as Any).a.b.push(4)
      same(cache.getSync('k'), expected)
      cache.deleteSync('k')
    }
  })
})

test('paths are the same with and without a directory', () => {
  const [one, two] = [open(), new Cache()]
  for (const [name, value] of REFUSED) {
    const [here, there] = [one, two].map((cache) => failure(() => cache.setSync('k', value)) as Any)
    expect(here.path, name).toBe(there.path)
  }
})

test('a plain value that is loaded is its caller’s own, not one that was decoded again', async () => {
  for (const cache of [open(), new Cache()]) {
    const value = { a: [1, { b: 'c' }] }
    expect(await cache.getOrSet('k', () => value)).toBe(value)
  }
})

test.each([
  ['json', { a: new Map([['b', 5n]]), c: undefined, d: -0 }, { a: { b: 5 }, d: 0 }],
  ['bytes', Buffer.from('ab'), new Uint8Array([97, 98])],
  ['text', 'text', 'text'],
] as const)('the first call agrees with the serializer %s', async (serializer, value, given) => {
  const cache = open({ serializer })
  same(await cache.getOrSet('k', () => value), given)
  same(cache.getSync('k'), given)
})

test('isolation freeze freezes what the type map gives, none keeps the object itself', async () => {
  const frozen = new Cache({ memory: { isolation: 'freeze' } })
  frozen.setSync('k', new Map([['a', { b: [5n] }]]))
  const given = frozen.getSync('k') as Any
  same(given, { a: { b: [5] } })
  frozen.setSync('l', [{ a: [1] }])
  for (const one of [given, given.a, given.a.b, frozen.getSync('l')]) {
    expect(Object.isFrozen(one)).toBe(true)
  }
  expect((frozen.getSync('l') as Any)[0]).toSatisfy(Object.isFrozen)
  expect(frozen.getSync('l')).toBe(frozen.getSync('l'))
  const map = new Map([[1, () => 1]])
  const none = new Cache({ memory: { isolation: 'none' } })
  expect(await none.getOrSet('k', () => map)).toBe(map)
  expect(none.getSync('k')).toBe(map)
})

test('with cloneInstance, instances are taken without a directory', () => {
  const copy = (point: object) =>
    point instanceof Point ? Object.assign(new Point(), point) : undefined
  const cache = new Cache({ memory: { cloneInstance: copy } })
  cache.setSync('k', new Point())
  expect(cache.getSync('k')).toBeInstanceOf(Point)
})

/** Equal, and of the same classes. */
function same(value: Any, expected: Any): void {
  expect(value).toStrictEqual(expected)
  expect(Object.prototype.toString.call(value)).toBe(Object.prototype.toString.call(expected))
}
