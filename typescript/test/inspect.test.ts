/** What `console.log` shows, and what structured clone says. */
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { expect, test } from 'vitest'
import { Cache } from '../src/index.ts'
import { namespaced } from '../src/redis-namespace/index.ts'
import { open } from './support/caches.ts'

/** On one line, whatever the runtime's own idea of a line is. */
function look(object: object): string {
  return inspect(object, { breakLength: Number.POSITIVE_INFINITY }).replace(/\s+/g, ' ')
}

test('a cache over a directory shows its path, its namespace and the bounds of its memory tier', () => {
  const cache = open({ namespace: ['shop', 'users'], memory: { maxEntries: 10, maxBytes: '1MiB' } })
  const text = look(cache)
  expect(text).toMatch(/^Cache \{ path: /)
  expect(text).toContain(cache.path)
  expect(text.replaceAll(/["']/g, '')).toContain('namespace: [ shop, users ]')
  expect(text).toMatch(/maxEntries: 10, maxBytes: 1048576/)
  expect(text).not.toContain('closed')
  expect(look(cache.namespace('x')).replaceAll(/["']/g, '')).toContain('[ shop, users, x ]')
  expect(look(open({ memory: false }))).toContain('memory: false')
  cache.closeSync()
  expect(look(cache)).toContain('closed: true')
})

test('a cache without a path shows no path', () => {
  const text = look(new Cache({ namespace: 'shop' }))
  expect(text.replaceAll(/["']/g, '')).toBe(
    'Cache { namespace: [ shop ], memory: { maxEntries: 10000, maxBytes: 67108864 } }',
  )
})

test('the class of the program is named, within objects too', () => {
  class Sessions extends Cache {}
  expect(look({ a: { b: { c: new Sessions() } } })).toContain('Sessions {')
})

test('a namespaced client shows its namespace, and no password', () => {
  const ioredis = new Redis({ lazyConnect: true, password: 'secret' })
  const node = createClient({ password: 'secret' })
  for (const client of [ioredis, node]) {
    const text = look(namespaced(client, { namespace: ['shop', 'users'] }))
    expect(text.replaceAll(/["']/g, '')).toMatch(/^\w+ \{ namespace: \[ shop, users \] \}$/)
  }
})

test('a cache is not cloned into an empty object, nor given to a worker', () => {
  const cache = open()
  for (const value of [cache, { cache }, [cache.namespace('x')]]) {
    expect(() => structuredClone(value)).toThrow(
      expect.objectContaining({ name: 'DataCloneError' }),
    )
  }
  expect(() => new Worker('', { eval: true, workerData: cache })).toThrow(
    expect.objectContaining({ name: 'DataCloneError' }),
  )
})
