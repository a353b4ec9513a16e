/** The option `types`: what is refused, and what names may be. */
import { describe, expect, test } from 'vitest'
import {
  Cache,
  type CacheOptions,
  Decimal,
  InvalidArgument,
  MemoryCache,
  Named,
  Uuid,
} from '../src/index.ts'
import { open } from './support/caches.ts'
import { failure } from './support/failure.ts'
import { types, User, user } from './support/registered.ts'

describe('the option', () => {
  const take = (given: unknown) => [
    failure(() => new Cache({ types: given } as CacheOptions)),
    failure(() => open({ types: given } as CacheOptions)),
    failure(() => new MemoryCache({ types: given } as object)),
  ]
  const functions = { encode: () => 1, decode: () => 1 }

  test.each<[string, unknown]>([
    ['null', null],
    ['text', 'user'],
    ['a list', [user]],
    ['a set', new Set()],
    ['an empty name', { '': user }],
    ['a name of 256 bytes', { ['n'.repeat(256)]: user }],
    ['a name that is not ASCII of 256 bytes', { ['é'.repeat(128)]: user }],
    ['half a surrogate pair', { '\ud800': user }],
    ['a symbol', { [Symbol('user')]: user }],
    ['a number', new Map([[5, user]])],
    ['the prototype', { __proto__: user }],
    ['a type that is null', { user: null }],
    ['a type that is a class', { user: User }],
    ['no class', { user: functions }],
    ['an instance', { user: { ...functions, class: new User('Ada') } }],
    ['a function that makes nothing', { user: { ...functions, class: () => {} } }],
    ['no encode', { user: { class: User, decode: () => 1 } }],
    ['no decode', { user: { class: User, encode: () => 1 } }],
    ['a word more', { user: { ...user, init: 1 } }],
    ['a class under two names', { user, other: user }],
    ...[Object, Array, Map, Set, Date, Uint8Array, Buffer, Named].map((made): [string, unknown] => [
      made.name,
      { user: { ...functions, class: made } },
    ]),
  ])('%s is refused', (_, given) => {
    for (const error of take(given)) expect(error).toBeInstanceOf(InvalidArgument)
  })

  test('Decimal and Uuid are types without it', () => {
    for (const made of [Decimal, Uuid]) {
      const given = { user: { ...functions, class: made } }
      expect(failure(() => new Cache({ types: given } as unknown as CacheOptions))).toBeInstanceOf(
        InvalidArgument,
      )
    }
  })

  test('a Map, and names that are properties of objects', () => {
    for (const names of [new Map([['__proto__', user]]), { ['__proto__']: user }]) {
      const cache = open({ types: names as Record<string, typeof user> })
      cache.setSync('k', new User('Ada'))
      expect(cache.getSync('k')).toBeInstanceOf(User)
      const plain = open({ path: cache.path as string })
      expect(plain.getSync('k')).toEqual(
        new Named('__proto__', { name: 'Ada', tags: [], secret: 0 }),
      )
    }
    const cache = new Cache({ types })
    cache.setSync('k', new Named('constructor', 1))
    expect(cache.getSync('k')).toEqual(new Named('constructor', 1))
  })

  test('what is done to it later changes nothing, and its functions may be methods', () => {
    const given = {
      user: {
        class: User,
        made: 0,
        encode: ({ name }: User) => name,
        decode(name: string) {
          return new User(name, [typeof this.decode])
        },
      } as { class: typeof User; encode(user: User): string; decode(name: string): User },
    }
    delete (given.user as { made?: number }).made
    const cache = new Cache({ types: given })
    given.user.encode = () => 'changed'
    given.user = undefined as never
    cache.setSync('k', new User('Ada'))
    expect(cache.getSync<User>('k')).toEqual(new User('Ada', ['function']))
  })
})
