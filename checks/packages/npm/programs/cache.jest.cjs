// Jest as it comes: CommonJS, and globals of a context of its own.
const { mkdtempSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { Cache, IoError, UnsupportedValue } = require('polycache')
const { MemoryCache } = require('polycache/memory')

const path = join(mkdtempSync(join(tmpdir(), 'polycache-jest-')), 'cache')
const values = {
  at: new Date(0),
  tags: new Set(['a']),
  bytes: new Uint8Array([1, 2]),
  big: 2n ** 70n,
  list: [1, 1.5, null, true],
}

test('every type comes back, as one of this context', async () => {
  const cache = new Cache({ path })
  for (const [key, value] of Object.entries(values)) {
    cache.setSync(key, value)
    expect(cache.getSync(key)).toEqual(value)
  }
  expect(await cache.getOrSet('all', async () => values)).toEqual(values)
  expect(cache.getSync('at')).toBeInstanceOf(Date)
  const other = new Cache({ path, memory: false })
  for (const [key, value] of Object.entries(values)) expect(other.getSync(key)).toEqual(value)
  expect(other.getSync('tags')).toBeInstanceOf(Set)
  other.closeSync()
  cache.closeSync()
})

test('errors are typed, those of the native part too', () => {
  const cache = new Cache({ path })
  expect(() => new Cache({ path: '/dev/null/cache' })).toThrow(IoError)
  expect(() => cache.setSync('k', () => {})).toThrow(UnsupportedValue)
  cache.closeSync()
})

test('copies of the package in one process share a directory', () => {
  const cache = new Cache({ path })
  jest.resetModules()
  const again = require('polycache')
  expect(again.Cache).not.toBe(Cache)
  const other = new again.Cache({ path })
  for (let turn = 0; turn < 100; turn++) {
    cache.setSync('k', turn)
    expect(other.getSync('k')).toBe(turn)
  }
  other.closeSync()
  expect(cache.getSync('k')).toBe(99)
  cache.closeSync()
})

test('a memory cache copies what it is given', () => {
  const cache = new MemoryCache()
  cache.set('k', values)
  expect(cache.get('k')).toEqual(values)
  expect(cache.get('k')).not.toBe(values)
})
