/** Registered types in a MemoryCache, whose values are not only those of the type map. */
import { describe, expect, test } from 'vitest'
import { MemoryCache, type UnsupportedValue, WrongType } from '../../src/memory/index.ts'
import { failure } from '../support/failure.ts'
import { Admin, Order, types, User } from '../support/registered.ts'

describe('MemoryCache', () => {
  test.each(['clone', 'freeze'] as const)(
    '%s: keys of maps, sets, errors, and one object twice',
    (isolation) => {
      const cache = new MemoryCache<string, unknown>({ types, isolation })
      const ada = new User('Ada', ['a'])
      const value =
        isolation === 'clone'
          ? { map: new Map<unknown, unknown>([[ada, ada]]), set: new Set([ada]), also: ada }
          : { list: [ada], also: ada }
      cache.set('k', value)
      for (let times = 0; times < 2; times++) {
        const found = cache.get('k') as { map?: Map<User, User>; list?: User[]; also: User }
        const one = found.map ? [...found.map][0][0] : found.list?.[0]
        expect(one).toBeInstanceOf(User)
        expect(found.also).toBe(one)
        expect(one).not.toBe(ada)
        expect(one).toEqual(ada)
      }
    },
  )

  test('paths lead through maps and errors', () => {
    const broken = {
      class: User,
      encode: () => ({ a: 1 }),
      decode: () => {
        throw new Error('no')
      },
    }
    const cache = new MemoryCache<string, unknown>({ types: { user: broken, order: types.order } })
    const path = (value: unknown) => {
      cache.set('k', value)
      return (failure(() => cache.get('k')) as WrongType).path
    }
    expect(path(new User('Ada'))).toBe('$')
    expect(path({ m: new Map([['a', { u: new User('Ada') }]]) })).toBe('$.m.a.u')
    expect(path([new Error('e', { cause: new User('Ada') })])).toBe('$[0].cause')
    expect(path([0, new Order(new User('Ada'), [])])).toBe('$[1].customer')
    const refused = failure(() => cache.set('k', [new Order(new Admin('x'), [])]))
    expect((refused as UnsupportedValue).path).toBe('$[0].customer')
  })

  test('getOrSet and getOrSetSync give the first caller what the next one gets', async () => {
    const cache = new MemoryCache<string, User>({ types })
    const given = new User('Ada', ['a'])
    const made = cache.getOrSetSync('m', () => given)
    const all = await Promise.all([1, 2].map(() => cache.getOrSet('k', async () => given)))
    for (const one of [made, ...all]) {
      expect(one).toBeInstanceOf(User)
      expect(one).not.toBe(given)
    }
    expect(all[0]).not.toBe(all[1])
  })

  test('a decode that throws leaves the cache whole', () => {
    let fails = true
    const broken = {
      class: User,
      encode: () => 1,
      decode: () => {
        if (fails) throw new Error('no')
        return new User('Ada')
      },
    }
    const cache = new MemoryCache<string, unknown>({ types: { user: broken }, maxEntries: 2 })
    for (const key of ['a', 'b', 'c', 'd']) cache.set(key, new User(key))
    expect(failure(() => cache.pop())).toBeInstanceOf(WrongType)
    expect([cache.size, [...cache.keys()].length]).toEqual([1, 1])
    expect(failure(() => cache.take([...cache.keys()][0]))).toBeInstanceOf(WrongType)
    expect([cache.size, [...cache.keys()].length]).toEqual([1, 1])
    fails = false
    cache.set('k', new User('k'))
    expect(cache.pop()).toBeInstanceOf(User)
    expect([cache.pop() instanceof User, cache.size]).toEqual([true, 0])
  })

  test('values weigh, and dumps can be loaded', () => {
    const cache = new MemoryCache<string, unknown>({ types })
    cache.set('k', { user: new User('x'.repeat(1000)) })
    expect(cache.bytes).toBeGreaterThan(1000)
    const other = new MemoryCache<string, unknown>({ types })
    other.load(cache.dump())
    expect((other.get('k') as { user: User }).user).toBeInstanceOf(User)
  })

  test('with none nothing is encoded', () => {
    const cache = new MemoryCache<string, unknown>({ types, isolation: 'none' })
    const given = new Admin('Ada')
    cache.set('k', given)
    expect(cache.get('k')).toBe(given)
  })
})
