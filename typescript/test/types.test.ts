/** Registered types: classes of the program's own, by name (spec/entry.md, "Registered types"). */
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  Cache,
  type CacheOptions,
  Decimal,
  Named,
  registered,
  UnsupportedValue,
  WrongType,
} from '../src/index.ts'
import { folder, open } from './support/caches.ts'
import { failure } from './support/failure.ts'
import { Admin, Index, Money, Order, Points, types, User, user } from './support/registered.ts'

const KEY = { id: 1, key: new Uint8Array(32) }
const SETUPS: [string, () => Partial<CacheOptions>][] = [
  ['memory and host', () => ({ path: folder(), limit: '4MiB' })],
  ['host', () => ({ path: folder(), limit: '4MiB', memory: false })],
  ['host, the native reader', () => ({ path: folder(), limit: '4MiB', reader: 'native' })],
  [
    'encrypted and compressed',
    () => ({ path: folder(), limit: '4MiB', encryption: [KEY], compressor: 'zstd' }),
  ],
  [
    'memory and host, frozen',
    () => ({ path: folder(), limit: '4MiB', memory: { isolation: 'freeze' } }),
  ],
  ['memory', () => ({})],
  ['memory, frozen', () => ({ memory: { isolation: 'freeze' } })],
  ['memory, with cloneInstance', () => ({ memory: { cloneInstance: () => undefined } })],
]

describe.each(SETUPS)('%s', (name, setup) => {
  const isFrozen = name.includes('frozen')
  const make = (more: Partial<CacheOptions> = {}) => {
    const options = setup()
    return options.path === undefined
      ? new Cache({ types, ...options, ...more })
      : open({ types, ...options, ...more })
  }

  test('each reader gets an object of its own, of the class', () => {
    const cache = make()
    const given = new User('Ada', ['a'], 7)
    cache.setSync('k', given)
    const read = [1, 2, 3].map(() => cache.getSync<User>('k') as User)
    for (const one of read) {
      expect(one).toBeInstanceOf(User)
      expect([one.name, one.tags, one.secret]).toEqual(['Ada', ['a'], 7])
      expect(one).not.toBe(given)
      if (!isFrozen) one.tags.push('b')
    }
    expect(new Set(read).size).toBe(3)
    given.tags.push('c')
    expect(cache.getSync<User>('k')?.tags).toEqual(['a'])
  })

  test('an update is given an object of the class, and gives one', () => {
    const cache = make()
    expect(cache.addSync('k', new User('Ada', ['a'], 7))).toBe(true)
    const given = new User('Grace', ['b'], 8)
    const stored = cache.updateSync<User>('k', (found) => {
      expect([found instanceof User, found?.name]).toEqual([true, 'Ada'])
      return given
    })
    expect([stored instanceof User, stored?.name, stored === given]).toEqual([true, 'Grace', false])
    const read = cache.getSync<User>('k')
    expect([read instanceof User, read?.name, read === stored]).toEqual([true, 'Grace', false])
  })

  test('in lists, maps and each other, many at once, in a namespace', () => {
    const cache = make().namespace('shop')
    const order = new Order(new User('Ada'), [new User('Bob'), Points.of(1, 2), 'x'])
    const value = {
      orders: [order, order],
      ['__proto__']: [new User('Pro')],
      owner: new User('Eve'),
    }
    const check = (found: typeof value) => {
      const [one, two] = found.orders
      expect([one, two].every((each) => each instanceof Order)).toBe(true)
      expect(one.customer).toBeInstanceOf(User)
      expect(one.customer.name).toBe('Ada')
      expect((one.items[0] as User).name).toBe('Bob')
      expect(one.items[1]).toBeInstanceOf(Points)
      expect([...(one.items[1] as Points)]).toEqual([1, 2])
      expect(found.owner).toBeInstanceOf(User)
      expect(Object.getPrototypeOf(found)).toBe(Object.prototype)
      const proto = Object.getOwnPropertyDescriptor(found, '__proto__')?.value as User[]
      expect(proto[0]).toBeInstanceOf(User)
    }
    cache.setManySync({ a: value, b: [new User('Cleo')] })
    const found = cache.getManySync(['a', 'b'])
    check(found.get('a') as typeof value)
    expect((found.get('b') as User[])[0].name).toBe('Cleo')
    check(cache.getSync('a') as typeof value)
    check(cache.getSync('a') as typeof value)
  })

  test('a class that extends a built-in one, or one of ours', () => {
    const cache = make()
    cache.setSync('index', new Index([['a', 1]]))
    for (let times = 0; times < 2; times++) {
      expect(cache.getSync('index')).toBeInstanceOf(Index)
      expect(cache.getSync<Index>('index')?.get('a')).toBe(1)
    }
  })

  test('instances of a class that extends a registered one are refused', () => {
    const cache = make()
    const error = failure(() => cache.setSync('k', { list: [new Admin('Ada')] }))
    expect(error).toBeInstanceOf(UnsupportedValue)
    expect((error as UnsupportedValue).path).toBe('$.list[0]')
  })

  test('an encode that throws: the path, and the error as the cause', async () => {
    const cause = new Error('no')
    const broken = {
      class: User,
      encode: () => {
        throw cause
      },
      decode: () => new User(''),
    }
    const cache = make({ types: { ...types, user: broken } })
    const error = failure(() =>
      cache.setSync('k', [new Order(new User('Ada'), [])]),
    ) as UnsupportedValue
    expect(error).toBeInstanceOf(UnsupportedValue)
    expect([error.path, error.cause]).toEqual(['$[0].customer', cause])
    // A load hands over what cannot be stored.
    const given = new User('Ada')
    expect(await cache.getOrSet('k', () => given)).toBe(given)
    expect(cache.hasSync('k')).toBe(false)
    expect(cache.statsSync().unstored).toBe(1)
    cache.setSync('k', 1)
    expect(cache.getSync('k')).toBe(1)
  })

  test('what encode returns has to be a value', () => {
    class Late {}
    class Wrong {}
    const cache = make({
      types: {
        ...types,
        late: { class: Late, encode: async () => 1, decode: () => new Late() },
        wrong: { class: Wrong, encode: () => ({ list: [1, () => 1] }), decode: () => new Wrong() },
      },
    })
    const late = failure(() => cache.setSync('k', { late: new Late() })) as UnsupportedValue
    const wrong = failure(() => cache.setSync('k', { a: new Wrong() })) as UnsupportedValue
    expect(late).toBeInstanceOf(UnsupportedValue)
    expect([late.path, wrong.path]).toEqual(['$.late', '$.a.list[1]'])
  })

  test('a decode that throws is WrongType, with the path and the cause, and no miss', async () => {
    const cause = new TypeError('no')
    let fails = true
    const decode = (value: { name: string }) => {
      if (fails) throw cause
      return new User(value.name)
    }
    const broken = { class: User, encode: ({ name }: User) => ({ name }), decode }
    const cache = make({ types: { ...types, user: broken } })
    cache.setSync('k', { a: [new Order(new User('Ada'), [])] })
    for (let times = 0; times < 3; times++) {
      const error = failure(() => cache.getSync('k')) as WrongType
      expect(error).toBeInstanceOf(WrongType)
      expect([error.code, error.path, error.cause]).toEqual([
        'wrong_type',
        '$.a[0].customer',
        cause,
      ])
    }
    const loaded = await cache.getOrSet('k', () => 1).catch((error: unknown) => error)
    expect(loaded).toBeInstanceOf(WrongType)
    const first = await cache
      .getOrSet('l', () => [new User('Bob')])
      .catch((error: unknown) => error)
    expect(first).toBeInstanceOf(WrongType)
    expect((first as WrongType).path).toBe('$[0]')
    fails = false
    expect(cache.getSync<{ a: Order[] }>('k')?.a[0].customer.name).toBe('Ada')
    expect((await cache.getOrSet<User[]>('l', () => [])).map(({ name }) => name)).toEqual(['Bob'])
  })

  test('a decode that returns undefined would look like a miss', () => {
    const nothing = { class: User, encode: () => 1, decode: () => undefined as unknown as User }
    const cache = make({ types: { user: nothing } })
    cache.setSync('k', new User('Ada'))
    for (let times = 0; times < 2; times++) {
      expect(failure(() => cache.getSync('k'))).toBeInstanceOf(WrongType)
    }
  })

  test('the first call is given what later ones are, and so are those that joined', async () => {
    const cache = make()
    const given = new User('Ada', ['a'])
    const calls = [1, 2, 3].map(() => cache.getOrSet('k', async () => ({ user: given })))
    const all = [...(await Promise.all(calls)), await cache.getOrSet('k', () => ({ user: given }))]
    for (const { user } of all) {
      expect(user).toBeInstanceOf(User)
      expect(user).toEqual(given)
      expect(user).not.toBe(given)
    }
    expect(new Set(all.map(({ user }) => user)).size).toBe(4)
    // Frozen parts are shared.
    if (!isFrozen) expect(new Set(all.map(({ user }) => user.tags)).size).toBe(4)
  })

  test('encode and decode may use the cache, for the same key too', async () => {
    let cache: Cache
    const nested = registered(User, {
      encode: ({ name }) => {
        cache.setSync('names', { last: name })
        cache.getSync('other')
        return { name, filler: 'é'.repeat(100) }
      },
      decode: ({ name }) => {
        cache.setSync('read', [name])
        cache.setSync('k', { user: 'later' })
        return new User(name, [JSON.stringify(cache.getSync('names'))])
      },
    })
    cache = make({ types: { user: nested } })
    cache.setSync('other', [new User('Zoe')])
    cache.setSync('k', { first: new User('Ada'), second: new User('Bob'), after: [1, 'two'] })
    const found = cache.getSync<{ first: User; second: User; after: unknown[] }>('k')
    expect(found?.first).toBeInstanceOf(User)
    expect([found?.first.name, found?.second.name, found?.after]).toEqual([
      'Ada',
      'Bob',
      [1, 'two'],
    ])
    expect(found?.first.tags).toEqual(['{"last":"Bob"}'])
    expect(cache.getSync('k')).toEqual({ user: 'later' })
    const loaded = await cache.getOrSet('l', () => [new User('Cleo')])
    expect(loaded[0].name).toBe('Cleo')
    expect(cache.getSync('names')).toEqual({ last: 'Cleo' })
  })

  test('a cycle through encode ends', () => {
    class Node {
      readonly self: Node = this
    }
    const node = { class: Node, encode: ({ self }: Node) => ({ self }), decode: () => new Node() }
    const cache = make({ types: { node } })
    const error = failure(() => cache.setSync('k', new Node()))
    expect(error).toBeInstanceOf(UnsupportedValue)
    expect((error as UnsupportedValue).path).toMatch(/^\$(\.self){63,128}$/)
  })

  test('a name that is not registered is a Named, which is written as it was read', () => {
    const cache = make({ types: { order: types.order } })
    cache.setSync('k', { a: [new Named('user', { name: 'Ada', tags: [], secret: 1 })] })
    const read = cache.getSync<{ a: Named<{ tags: string[] }>[] }>('k') as { a: Named[] }
    expect(read).toEqual({ a: [new Named('user', { name: 'Ada', tags: [], secret: 1 })] })
    expect(Object.isFrozen(read.a[0])).toBe(true)
    if (!isFrozen) (read.a[0].value as User).tags.push('x')
    cache.setSync('k', read)
    expect(cache.getSync<typeof read>('k')?.a[0]).toBeInstanceOf(Named)
    const same = make()
    same.setSync('k', cache.getSync('k'))
    const found = same.getSync<{ a: User[] }>('k')?.a[0] as User
    expect(found).toBeInstanceOf(User)
    expect([found.name, found.secret]).toEqual(['Ada', 1])
  })

  test('the name of a Named has 1 to 255 bytes', () => {
    const cache = make()
    for (const name of ['', 'n'.repeat(256), 'é'.repeat(128), '\ud800', 5 as unknown as string]) {
      const error = failure(() => cache.setSync('k', [new Named(name, 1)])) as UnsupportedValue
      expect(error, name).toBeInstanceOf(UnsupportedValue)
      expect(error.path).toBe('$[0]')
    }
    cache.setSync('k', new Named('é'.repeat(127), 1))
    expect(cache.getSync('k')).toEqual(new Named('é'.repeat(127), 1))
    class Other extends Named {}
    expect(failure(() => cache.setSync('k', new Other('a', 1)))).toBeInstanceOf(UnsupportedValue)
  })

  if (isFrozen) {
    test('objects are frozen, and made of frozen parts', () => {
      const parts: unknown[] = []
      const frozen = registered(User, {
        encode: ({ name, tags }) => ({ name, tags }),
        decode: (value) => {
          parts.push(value, value.tags)
          return new User(value.name, value.tags)
        },
      })
      const cache = make({ types: { user: frozen } })
      cache.setSync('k', { list: [new User('Ada', ['a'])], one: { two: 1 } })
      for (let times = 0; times < 3; times++) {
        const found = cache.getSync<{ list: User[]; one: object }>('k')
        const all = [found, found?.list, found?.list[0], found?.list[0].tags, found?.one]
        expect(all.map((part) => Object.isFrozen(part))).toEqual(all.map(() => true))
      }
      expect(parts.length).toBe(6)
      expect(parts.every((part) => Object.isFrozen(part))).toBe(true)
    })

    test('what cannot be frozen is given as it is', () => {
      class Raw extends Uint8Array {}
      const raw = {
        class: Raw,
        encode: (bytes: Raw) => [...bytes],
        decode: (list: number[]) => Raw.from(list),
      }
      const cache = make({ types: { raw } })
      cache.setSync('k', Raw.of(1, 2))
      for (let times = 0; times < 2; times++) {
        expect(cache.getSync('k')).toBeInstanceOf(Raw)
        expect([...(cache.getSync<Raw>('k') ?? [])]).toEqual([1, 2])
      }
    })
  }
})

test('a class that extends Decimal is its own type where values become bytes', () => {
  for (const cache of [open({ types }), new Cache({ types })]) {
    cache.setSync('k', [new Money('1.50'), new Decimal('2')])
    for (let times = 0; times < 2; times++) {
      const [money, decimal] = cache.getSync<Decimal[]>('k') as Decimal[]
      expect(money).toBeInstanceOf(Money)
      expect(decimal).not.toBeInstanceOf(Money)
    }
  }
})

test('what has no frozen form: refused without a directory, read anew each time with one', () => {
  class Moment {
    readonly at: Date
    constructor(at: Date) {
      this.at = at
    }
  }
  const moment = registered(Moment, {
    encode: ({ at }) => ({ at }),
    decode: ({ at }) => new Moment(at),
  })
  const options = { types: { moment }, memory: { isolation: 'freeze' } } as const
  const refused = failure(() => new Cache(options).setSync('k', [new Moment(new Date(5))]))
  expect((refused as UnsupportedValue).path).toBe('$[0].at')
  const cache = open(options)
  cache.setSync('k', [new Moment(new Date(5))])
  const [one, two] = [1, 2].map(() => cache.getSync<Moment[]>('k')?.[0] as Moment)
  expect(one).toEqual(new Moment(new Date(5)))
  expect(one).not.toBe(two)
  expect(one.at).not.toBe(two.at)
})

test('what encode and decode throw may be anything', () => {
  for (const thrown of [undefined, null, 'text', Object.create(null), Symbol('s')]) {
    const broken = {
      class: User,
      encode: (one: User) => {
        if (one.name === '') throw thrown
        return one.name
      },
      decode: () => {
        throw thrown
      },
    }
    for (const cache of [
      open({ types: { user: broken } }),
      new Cache({ types: { user: broken } }),
    ]) {
      const refused = failure(() => cache.setSync('k', new User(''))) as UnsupportedValue
      expect([refused.code, refused.cause]).toEqual(['unsupported_value', thrown])
      cache.setSync('k', new User('Ada'))
      const wrong = failure(() => cache.getSync('k')) as WrongType
      expect([wrong.code, wrong.cause]).toEqual(['wrong_type', thrown])
    }
  }
})

test('no isolation: without a directory the object itself, with one the object that was made once', () => {
  let encoded = 0
  const counting = {
    ...user,
    encode: (one: User) => {
      encoded++
      return user.encode(one)
    },
  }
  const alone = new Cache({ types: { user: counting }, memory: { isolation: 'none' } })
  const given = new User('Ada')
  alone.setSync('k', given)
  expect(alone.getSync('k')).toBe(given)
  expect(encoded).toBe(0)
  const shared = open({ types: { user: counting }, memory: { isolation: 'none' } })
  shared.setSync('k', { user: given })
  const one = shared.getSync<{ user: User }>('k')
  expect(one?.user).toBeInstanceOf(User)
  expect(one?.user).not.toBe(given)
  expect(shared.getSync('k')).toBe(one)
})

test('a caller that joins the load of another handle gets objects of its own classes', async () => {
  class Person {
    readonly name: string
    constructor(name: string) {
      this.name = name
    }
  }
  const person = registered(Person, {
    encode: ({ name }) => ({ name }),
    decode: ({ name }) => new Person(name),
  })
  const path = folder()
  const one = open({ path, limit: '4MiB', types })
  const two = open({ path, types: { user: person } })
  const three = open({ path })
  let resolve = (_: unknown): void => {}
  const loading = one.getOrSet(
    'k',
    () =>
      new Promise((done) => {
        resolve = done
      }),
  )
  const joined = [two.getOrSet('k', () => 'not called'), three.getOrSet('k', () => 'not called')]
  resolve([new User('Ada')])
  const found = (await Promise.all([loading, ...joined])) as { name: string }[][]
  expect(found.map(([each]) => each.constructor.name)).toEqual(['User', 'Person', 'Named'])
  expect(two.getSync<Person[]>('k')?.[0]).toBeInstanceOf(Person)
  expect(three.getSync<Named[]>('k')?.[0]).toEqual(
    new Named('user', { name: 'Ada', tags: [], secret: 0 }),
  )
})

test('a cache that decode closes', () => {
  let cache: Cache
  const closing = {
    ...user,
    decode: () => {
      cache.closeSync()
      return new User('Ada')
    },
  }
  for (const isolation of ['clone', 'freeze', 'none'] as const) {
    cache = open({ types: { user: closing }, memory: { isolation } })
    cache.setSync('k', new User('Ada'))
    expect(cache.getSync('k')).toBeInstanceOf(User)
    expect(cache.closed).toBe(true)
  }
})

test('a Named shows its fields', () => {
  expect(inspect(new Named('user', { id: 1 }))).toBe("Named { name: 'user', value: { id: 1 } }")
})
