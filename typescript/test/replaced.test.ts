import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Cache } from '../src/index.ts'

/** Calls until one says that the directory was replaced; how many succeeded. */
function callsUntilTold(call: () => unknown): number {
  for (let calls = 0; calls < 100_000; calls++) {
    try {
      call()
    } catch (error) {
      expect(error).toMatchObject({ code: 'io' })
      return calls
    }
  }
  throw new Error('never told')
}

// Reads of the mapping call nothing native, so they look for themselves now and then.
test.each([
  ['a hit', 'k'],
  ['a miss', 'absent'],
])('%s notices that the cache was removed and made anew', (_, key) => {
  const path = mkdtempSync(join(tmpdir(), 'polycache-replaced-'))
  try {
    const options = { path, limit: '2MiB', memory: false } as const
    const old = new Cache(options)
    old.setSync('k', 'old')
    rmSync(join(path, 'v2'), { recursive: true })
    const anew = new Cache(options)
    anew.setSync('k', 'new')
    expect(callsUntilTold(() => old.getSync(key))).toBeLessThanOrEqual(1024)
    // From then on nothing is served, and a miss is no answer either.
    expect(() => old.getSync('absent')).toThrow()
    expect(() => old.getSync('k')).toThrow()
    expect(anew.getSync('k')).toBe('new')
    anew.closeSync()
  } finally {
    rmSync(path, { recursive: true })
  }
})
