/** Under the isolation freeze the first call gives what later ones give: something frozen. */
import { expect, test } from 'vitest'
import { Cache, MemoryCache } from '../../src/index.ts'
import { open } from '../support/caches.ts'

type Any = ReturnType<typeof JSON.parse>

const made = () => ({ a: [{ b: 1 }] })
const isFrozen = (value: Any) => [value, value.a, value.a[0]].every((part) => Object.isFrozen(part))

test.each([
  ['a cache over a directory', () => open({ memory: { isolation: 'freeze' } })],
  ['a cache in memory', () => new Cache({ memory: { isolation: 'freeze' } })],
  ['a MemoryCache', () => new MemoryCache({ isolation: 'freeze' })],
] as [string, () => Any][])('%s', async (_, make) => {
  const cache = make()
  const both = [1, 2].map(() => cache.getOrSet('k', async () => made()))
  for (const value of await Promise.all(both)) expect(isFrozen(value)).toBe(true)
  expect(isFrozen(await cache.get('k'))).toBe(true)
  expect(isFrozen(cache.getOrSetSync('sync', made))).toBe(true)
  const many = await cache.getOrSetMany(['m'], () => ({ m: made() }))
  expect(isFrozen(many.get('m'))).toBe(true)
})
