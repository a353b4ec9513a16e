/** Operations on many keys take lists: text is one key, though JavaScript goes through its characters. */
import { describe, expect, test } from 'vitest'
import { Cache, InvalidArgument, MemoryCache } from '../src/index.ts'
import { open } from './support/caches.ts'
import { failure } from './support/failure.ts'

type Any = ReturnType<typeof JSON.parse>

const CACHES: [string, () => Any][] = [
  ['a cache over a directory', () => open()],
  ['a cache in memory', () => new Cache({})],
]
const NO_LISTS: unknown[] = ['abc', '', 5, null, undefined, true, Buffer.from('abc'), () => []]

describe.each(CACHES)('%s', (_, make) => {
  test.each(NO_LISTS)('%j is not a list of keys', async (keys) => {
    const cache = make()
    for (const key of ['a', 'b', 'c']) cache.setSync(key, 1)
    expect(failure(() => cache.getManySync(keys))).toBeInstanceOf(InvalidArgument)
    expect(failure(() => cache.deleteManySync(keys))).toBeInstanceOf(InvalidArgument)
    await expect(cache.getMany(keys)).rejects.toBeInstanceOf(InvalidArgument)
    await expect(cache.deleteMany(keys)).rejects.toBeInstanceOf(InvalidArgument)
    expect([...cache.keys()].sort()).toEqual(['a', 'b', 'c'])
    expect(cache.deleteManySync(new Set(['a', 'b'])) + cache.deleteManySync(['c'])).toBe(3)
  })

  test.each([...NO_LISTS, ['ab', 'cd'], [5], [null]])('%j are not entries', async (entries) => {
    const cache = make()
    expect(failure(() => cache.setManySync(entries))).toBeInstanceOf(InvalidArgument)
    await expect(cache.setMany(entries)).rejects.toBeInstanceOf(InvalidArgument)
    expect([...cache.keys()]).toEqual([])
  })
})

describe('a MemoryCache', () => {
  test.each(NO_LISTS)('%j is not a list', (keys) => {
    const cache: Any = new MemoryCache()
    for (const key of ['a', 'b', 'c']) cache.set(key, 1)
    for (const operation of ['getMany', 'deleteMany', 'setMany']) {
      expect(failure(() => cache[operation](keys))).toBeInstanceOf(InvalidArgument)
    }
    expect([...cache.keys()]).toEqual(['a', 'b', 'c'])
  })

  test.each([[['ab', 'cd']], [[5]], [[null]]])('%j are not entries', (entries) => {
    const cache: Any = new MemoryCache()
    expect(failure(() => cache.setMany(entries))).toBeInstanceOf(InvalidArgument)
    expect(cache.size).toBe(0)
  })
})
