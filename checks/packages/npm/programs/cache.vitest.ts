import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cache, IoError } from 'polycache'
import { expect, test } from 'vitest'

test('a cache works under Vitest', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'polycache-vitest-')), 'cache')
  const cache = new Cache({ path })
  const value = { at: new Date(0), tags: new Set(['a']), bytes: new Uint8Array([1]) }
  expect(await cache.getOrSet('k', () => value)).toEqual(value)
  expect(cache.getSync('k')).toEqual(value)
  expect(() => new Cache({ path: '/dev/null/cache' })).toThrow(IoError)
})
