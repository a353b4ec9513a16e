/** Answers that come at the same time: each is its own caller's. */
import { expect, test } from 'vitest'
import { type Cache, MalformedEntry } from '../../src/index.ts'
import { everywhere, Site } from '../support/remote-caches.ts'

class User {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

everywhere((server) => {
  test('hits, misses, times and errors of one turn', async () => {
    const site = new Site(server())
    const cache = site.open({ maxStaleness: 0 })
    await cache.set('hit', { a: [1, 'x'] }, { ttl: '1h' })
    await cache.set('large', 'x'.repeat(100_000))
    await server().plain('SET', site.key('foreign'), 'no entry')
    const asked: unknown[] = []
    for (let turn = 0; turn < 100; turn++) {
      asked.push(cache.get('hit'), cache.get('none'), cache.has('hit'), cache.has('none'))
      asked.push(cache.ttl('none'), cache.ttl('large'), cache.get('large'))
      asked.push(cache.get('foreign').catch((error: unknown) => error instanceof MalformedEntry))
    }
    const answers = await Promise.all(asked)
    const each = [{ a: [1, 'x'] }, undefined, true, false]
    const others = [undefined, Number.POSITIVE_INFINITY, 'x'.repeat(100_000), true]
    expect(answers).toEqual(Array.from({ length: 100 }, () => [...each, ...others]).flat())
  })

  test('the decode of a registered type may use the cache', async () => {
    const site = new Site(server())
    let cache: Cache | undefined
    const seen: unknown[] = []
    const types = {
      user: {
        class: User,
        encode: ({ name }: User) => name,
        decode(name: string) {
          seen.push(cache?.get(`of ${name}`))
          return new User(name)
        },
      },
    }
    cache = site.open({ maxStaleness: 0, types })
    const names = Array.from({ length: 100 }, (_, at) => `user ${at}`)
    await cache.setMany(names.map((name) => [name, new User(name)] as const))
    await cache.setMany(names.map((name) => [`of ${name}`, name] as const))
    const users = names.map((name) => new User(name))
    expect(await Promise.all(names.map((name) => cache.get(name)))).toEqual(users)
    expect([...(await cache.getMany(names)).values()]).toEqual(users)
    expect(await Promise.all(seen)).toEqual([...names, ...names])
  })

  test('keys one by one, and none after a break', async () => {
    const cache = new Site(server()).open({ maxStaleness: 0 })
    const bytes = Uint8Array.of(0xff, 0xfe)
    const keys = [
      '',
      'ü',
      'long '.repeat(20_000),
      ...Array.from({ length: 50 }, (_, at) => `k${at}`),
    ]
    await cache.setMany([...keys, bytes].map((key) => [key, 1] as const))
    const found: unknown[] = []
    for await (const key of cache.keys()) found.push(key)
    expect(found.filter((key) => typeof key === 'string').sort()).toEqual([...keys].sort())
    expect(found.filter((key) => typeof key !== 'string')).toEqual([bytes])
    const iterator = cache.keys('k')[Symbol.asyncIterator]()
    const both = await Promise.all([iterator.next(), iterator.next()])
    expect(new Set(both.map(({ value }) => value)).size).toBe(2)
    for await (const key of { [Symbol.asyncIterator]: () => iterator }) {
      expect(keys).toContain(key)
      break
    }
    expect(await iterator.next()).toEqual({ value: undefined, done: true })
  })
})

test('keys that cannot be asked for fail once', async () => {
  const cache = new Site({ url: 'redis://127.0.0.1:1' }).open({ maxStaleness: 0, timeout: '100ms' })
  const keys = cache.keys()[Symbol.asyncIterator]()
  await expect(keys.next()).rejects.toMatchObject({ code: 'remote_unavailable' })
  expect(await keys.next()).toEqual({ value: undefined, done: true })
})
