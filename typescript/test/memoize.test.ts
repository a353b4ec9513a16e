/** Functions whose results are cached. */
import { describe, expect, test } from 'vitest'
import { Cache, InvalidArgument, MemoryCache } from '../src/index.ts'
import { argumentsText } from '../src/memoize.ts'
import { open } from './support/caches.ts'
import { failure } from './support/failure.ts'

type Any = ReturnType<typeof JSON.parse>

const CACHES: [string, () => Any][] = [
  ['a cache over a directory', () => open()],
  ['a cache in memory', () => new Cache()],
  ['a MemoryCache', () => new MemoryCache()],
]

describe.each(CACHES)('%s', (_, make) => {
  test('calls the function once for the same arguments', async () => {
    const cache = make()
    const calls: unknown[] = []
    const distance = cache.memoize(
      async (from: string, to: { name: string }) => {
        calls.push([from, to.name])
        return from.length * to.name.length
      },
      { name: 'distance' },
    )
    const asked = [1, 2].map(() => distance('Oslo', { name: 'Rome' }))
    expect(await Promise.all(asked)).toEqual([16, 16])
    expect(await distance('Oslo', { name: 'Rome' })).toBe(16)
    expect(await distance('Rome', { name: 'Oslo' })).toBe(16)
    expect(calls).toEqual([
      ['Oslo', 'Rome'],
      ['Rome', 'Oslo'],
    ])
  })

  test('at once', () => {
    const cache = make()
    let calls = 0
    const square = cache.memoizeSync(
      (number: number) => {
        calls++
        return number ** 2
      },
      { name: 'square' },
    )
    expect([square(3), square(3), square(4), calls]).toEqual([9, 9, 16, 2])
    const later = cache.memoizeSync(async () => 1, { name: 'later' })
    expect(failure(() => later())).toBeInstanceOf(InvalidArgument)
  })

  test('forget has the next call run', async () => {
    const cache = make()
    let calls = 0
    const next = cache.memoize((_: number) => ++calls, { name: 'next' })
    expect([await next(1), await next(2), await next(1)]).toEqual([1, 2, 1])
    expect([await next.forget(1), await next.forget(1), await next.forget(5)]).toEqual([
      true,
      false,
      false,
    ])
    expect([await next(1), await next(2)]).toEqual([3, 2])
    const nextSync = cache.memoizeSync((_: number) => ++calls, { name: 'nextSync' })
    expect([nextSync(1), nextSync.forget(1), nextSync.forget(1), nextSync(1)]).toEqual([
      4,
      true,
      false,
      5,
    ])
  })

  test('functions of other names have other results', async () => {
    const cache = make()
    const one = cache.memoize((n: number) => `one ${n}`, { name: 'f' })
    const two = cache.memoize((n: number) => `two ${n}`, { name: 'f[1' })
    const three = cache.memoize(async (n: number) => `own ${n}`, { name: 'own' })
    expect([await one(1), await two(1), await three(1), await one(1)]).toEqual([
      'one 1',
      'two 1',
      'own 1',
      'one 1',
    ])
  })

  test('a key of one’s own is the key', async () => {
    const cache = make()
    const name = cache.memoize((user: { id: number; name: string }) => user.name, {
      key: ({ id }: { id: number }) => `user:${id}`,
    })
    expect(await name({ id: 1, name: 'Ada' })).toBe('Ada')
    expect(await name({ id: 1, name: 'Bob' })).toBe('Ada')
    expect(await cache.get('user:1')).toBe('Ada')
    expect(await name.forget({ id: 1, name: '' })).toBe(true)
  })

  test('a ttl', async () => {
    const cache = make()
    const one = cache.memoize(() => 1, { key: () => 'k', ttl: '5s' })
    await one()
    const left = await cache.ttl('k')
    expect(left > 0 && left <= 5000).toBe(true)
  })

  test('what throws is not remembered', async () => {
    const cache = make()
    let calls = 0
    const fails = cache.memoize(
      () => {
        if (++calls < 3) throw new RangeError('mine')
        return calls
      },
      { name: 'fails' },
    )
    await expect(fails()).rejects.toThrow('mine')
    await expect(fails()).rejects.toThrow('mine')
    expect([await fails(), await fails()]).toEqual([3, 3])
  })

  test('what is refused', async () => {
    const cache = make()
    const anonymous = Object.defineProperty(() => 1, 'name', { value: '' })
    for (const act of [
      () => cache.memoize(5),
      () => cache.memoize(anonymous),
      // Two functions may have one name.
      () => cache.memoize(function named() {}, {}),
      () => cache.memoizeSync(anonymous),
      () => cache.memoize(anonymous, { name: '' }),
      () => cache.memoize(anonymous, { name: 5 }),
      () => cache.memoize(anonymous, { key: 'k' }),
      () => cache.memoize(anonymous, { key: () => 'k', name: 'n' }),
      () => cache.memoize(anonymous, { name: 'n', ttl: 5 }),
      () => cache.memoize(anonymous, { name: 'n', tll: '5s' }),
      () => cache.memoize(anonymous, null),
    ]) {
      expect(failure(act)).toBeInstanceOf(InvalidArgument)
    }
    const any = cache.memoize((_: unknown) => 1, { name: 'any' })
    await expect(any(new Date())).rejects.toBeInstanceOf(InvalidArgument)
  })
})

test('over a directory another handle has the same results; their keys are in the namespace', async () => {
  const cache = open()
  const other = open({ path: cache.path! })
  const of = (one: Cache) =>
    one.memoize((id: number) => ({ id, by: one === cache }), { name: 'load', ttl: '1h' })
  expect([await of(cache)(1), await of(other)(1)]).toEqual([
    { id: 1, by: true },
    { id: 1, by: true },
  ])
  expect([[...cache.keys()], [...cache.namespace('load').keys()]]).toEqual([[], ['[1]']])
})

describe('the text of arguments', () => {
  test.each([
    [[], '[]'],
    [[1, 'a', null, true], '[1,"a",null,true]'],
    [[{ a: [1, { b: '"' }] }], '[{"a":[1,{"b":"\\""}]}]'],
    [[1, undefined, undefined], '[1]'],
    [['\ud800', '\\ud800'], '["\\ud800","\\\\ud800"]'],
    [[1e21, 0.1, -5], '[1e+21,0.1,-5]'],
  ])('%j', (args, text) => {
    expect(argumentsText(args)).toBe(text)
  })

  const cycle: Any = {}
  cycle.self = cycle
  const holey: Any[] = [1]
  holey[2] = 3
  const NONE: [string, unknown][] = [
    ['undefined in a list', [undefined]],
    ['undefined in an object', { a: undefined }],
    ['NaN', Number.NaN],
    ['infinite', Number.POSITIVE_INFINITY],
    ['-0', -0],
    ['bigint', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a property by a symbol', { [Symbol('s')]: 1 }],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['a Set', new Set([1])],
    ['bytes', new Uint8Array(1)],
    ['an instance', new (class Own {})()],
    ['no prototype', Object.create(null)],
    ['toJSON', { toJSON: () => 1 }],
    ['a list with holes', holey],
    ['a list with properties', Object.assign([1], { x: 1 })],
    ['a cycle', cycle],
    ['boxed', Object(1)],
  ]
  test.each(NONE)('there is none of %s', (_, part) => {
    expect(failure(() => argumentsText([1, part, 2]))).toBeInstanceOf(InvalidArgument)
    expect(failure(() => argumentsText([{ a: [part] }]))).toBeInstanceOf(InvalidArgument)
  })

  test('undefined before another argument', () => {
    expect(failure(() => argumentsText([undefined, 1]))).toBeInstanceOf(InvalidArgument)
  })
})
