/** One cache in several processes. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folder, open } from './support/caches.ts'
import { type Child, child } from './support/children.ts'

describe('a read sees what another process did before it', () => {
  test('a thousand times over, with compiled code', async () => {
    const cache = open()
    const other = child(cache.path!)
    let warm = 0
    for (let turn = 0; turn < 50_000; turn++) if (cache.getSync('k') === undefined) warm++
    expect(warm).toBe(50_000)
    for (let turn = 0; turn < 1000; turn++) {
      await other.call('set', 'k', `value ${turn}`)
      expect(cache.getSync('k')).toBe(`value ${turn}`)
      if (turn % 10 === 0) {
        await other.call('delete', 'k')
        expect(cache.getSync('k')).toBeUndefined()
      }
      if (turn % 10 === 5) {
        await other.call('clear')
        expect(cache.getSync('k')).toBeUndefined()
      }
      cache.setSync('k', `own ${turn}`)
      expect(await other.call('get', 'k')).toBe(`own ${turn}`)
    }
  })

  // An engine that moves the loads out of such a loop never leaves it (Bun did so with plain ones).
  describe('in a loop that does nothing else', () => {
    test.each([
      ['a miss becomes a hit', undefined, 'new', 'new', ''],
      ['a hit becomes another one', 'old', 'new', 'new', ''],
      ['a hit becomes a miss', 'old', '', '', 'delete'],
      ['everything is cleared', 'old', '', '', 'clear'],
    ] as const)('%s', async (_, before, awaited, after, how) => {
      const cache = open()
      if (before !== undefined) cache.setSync('k', before)
      const other = child(cache.path!)
      other.send('await', 'k', awaited)
      expect(await other.hear()).toBe('spinning')
      if (how === 'delete') cache.deleteSync('k')
      else if (how === 'clear') cache.clearSync()
      else cache.setSync('k', after)
      const { done } = (await other.hear()) as { done: { seen: boolean } }
      expect(done.seen).toBe(true)
    })
  })
})

test('Atomics.load in a loop of its own sees what another process does', async () => {
  const cache = open()
  const other = child(cache.path!)
  other.send('epoch')
  expect(await other.hear()).toBe('spinning')
  cache.clearSync()
  const { done } = (await other.hear()) as { done: { seen: boolean } }
  expect(done.seen).toBe(true)
})

test('no read is torn while others write over everything', async () => {
  const cache = open({ path: folder(), limit: '2MiB' })
  const writers = [child(cache.path!), child(cache.path!)]
  for (const writer of writers) {
    writer.send('scribble')
    expect(await writer.hear()).toBe('scribbling')
  }
  let hits = 0
  for (let turn = 0; turn < 300_000; turn++) {
    const text = cache.getSync<string>(`k${turn % 7}`)
    if (text === undefined) continue
    hits++
    const whole = text === text[0].repeat(text.length)
    if (!whole) expect(text).toBe(text[0].repeat(text.length))
  }
  expect(hits).toBeGreaterThan(1000)
  const { evictedByAge, reinserted, blocksClaimed } = cache.statsSync()
  expect(evictedByAge + reinserted + blocksClaimed).toBeGreaterThan(20)
})

describe('getOrSet', () => {
  test('loads once for callers in three processes', async () => {
    const cache = open()
    const countFile = join(folder(), 'loads')
    writeFileSync(countFile, '')
    const others = [child(cache.path!, countFile), child(cache.path!, countFile)]
    await Promise.all(others.map((other) => other.call('get', 'k')))
    for (let turn = 0; turn < 20; turn++) {
      const key = `k${turn}`
      const own = cache.getOrSet(key, async () => {
        writeFileSync(countFile, '+', { flag: 'a' })
        return key
      })
      const all = await Promise.all([own, ...others.map((other) => other.call('load', key, key))])
      expect(all).toEqual([key, key, key])
    }
    expect(readFileSync(countFile, 'utf8')).toBe('+'.repeat(20))
  })

  test('waits for the load of another process', async () => {
    const cache = open()
    const other = child(cache.path!)
    other.send('hold', 'k')
    expect(await other.hear()).toBe('loading')
    const loads: string[] = []
    const waiting = [1, 2, 3].map(() =>
      cache.getOrSet('k', () => {
        loads.push('own')
        return 'own'
      }),
    )
    await new Promise((resolve) => setImmediate(resolve))
    other.send('finish', 'theirs')
    expect(await Promise.all(waiting)).toEqual(['theirs', 'theirs', 'theirs'])
    expect(loads).toEqual([])
  })

  test('of 60 callers in three processes whose source fails at most two load in each, and all are told', async () => {
    const path = folder()
    open({ path, limit: '4MiB' })
    const children = [1, 2, 3].map(() => child(path))
    const loading = new Set<Child>()
    for (const one of children) {
      one.send('fail', 'k', '20')
      // One of them loads by then; its line comes first.
      let said = await one.hear()
      if (said === 'loading') {
        loading.add(one)
        said = await one.hear()
      }
      expect(said).toBe('asked')
    }
    expect(loading.size).toBe(1)
    const results = await Promise.all(
      children.map(async (one) => {
        if (loading.has(one)) one.send('end')
        for (;;) {
          const said = await one.hear()
          // Its source fails as soon as it is asked, now that all are there.
          if (said === 'loading') one.send('end')
          else if ((said as { loads?: number }).loads !== undefined) return said
        }
      }),
    )
    for (const { loads, failed } of results as { loads: number; failed: number }[]) {
      expect(failed).toBe(20)
      expect(loads).toBeLessThanOrEqual(2)
    }
  })

  test('loads when the process that was loading is killed', async () => {
    const cache = open()
    const other = child(cache.path!)
    other.send('hold', 'k')
    expect(await other.hear()).toBe('loading')
    const waiting = cache.getOrSet('k', () => 'own')
    await new Promise((resolve) => setImmediate(resolve))
    await other.killed()
    expect(await waiting).toBe('own')
    expect(cache.getSync('k')).toBe('own')
  })

  test('a delete by another process during the load wins', async () => {
    const cache = open()
    const other = child(cache.path!)
    const loaded = await cache.getOrSet('k', async () => {
      await other.call('delete', 'k')
      return 'loaded'
    })
    expect(loaded).toBe('loaded')
    expect(cache.getSync('k')).toBeUndefined()
    expect(await other.call('get', 'k')).toBeNull()
  })
})
