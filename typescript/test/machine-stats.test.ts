/** What all processes of the machine did with a directory, and the space of namespaces. */
import { expect, test } from 'vitest'
import { Cache, type CacheOptions, InvalidArgument, type MachineStats } from '../src/index.ts'
import { folder, open } from './support/caches.ts'
import { child } from './support/children.ts'

function told(cache: Cache): MachineStats {
  const stats = cache.machineStatsSync()
  if (stats === undefined) throw new Error('it has a directory')
  return stats
}

test.each(['auto', 'native'] as const)(
  'processes are counted together and each for itself, reader %s',
  async (reader) => {
    const path = folder()
    const cache = open({ path, reader })
    cache.setSync('k', 'v')
    for (let read = 0; read < 500; read++) cache.getSync('k')
    const other = child(path)
    for (const key of ['k', 'absent', 'absent']) await other.call('get', key)
    const [mine, others] = told(cache).processes
    expect(mine).toMatchObject({ pid: process.pid, hits: 500, handles: 1 })
    // A handle's first operations are reported at once.
    expect(others).toMatchObject({ hits: 1, misses: 2 })
    await other.killed()
    const stats = told(cache)
    expect(stats).toMatchObject({ hits: 501, misses: 2, writes: 1, processes: { length: 1 } })
    expect(stats.since).toBeLessThanOrEqual(mine.since)
    expect(cache.statsSync()).toMatchObject({ hits: 500, misses: 0 })
  },
)

test('every operation of a handle is counted, and once', async () => {
  const path = folder()
  const cache = open({ path })
  cache.setSync('k', 1)
  cache.addSync('added', 1)
  cache.incrementSync('count')
  await cache.getOrSet('loaded', () => 1)
  const failing = cache.getOrSet('fails', async () => {
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await cache.lease('k').acquire()
  for (const key of ['k', 'absent']) cache.getSync(key)
  cache.hasSync('absent')
  cache.takeSync('added')
  cache.deleteSync('k')
  const { hits, memoryHits, misses, writes, deletes, unstored, invalidatedLoads } =
    cache.statsSync()
  const stats = told(cache)
  expect(stats).toMatchObject({ hits, memoryHits, misses, writes, deletes })
  expect(stats).toMatchObject({ unstored, invalidatedLoads })
  expect(stats).toMatchObject({ hits: 2, misses: 4, writes: 4, deletes: 2 })
  expect(stats).toMatchObject({ loads: 2, failedLoads: 1 })
  cache.closeSync()
  expect(told(open({ path }))).toMatchObject({ hits: 2, misses: 4, processes: [{ hits: 0 }] })
})

test.each<[string, Partial<CacheOptions>]>([
  ['of the mapping', { memory: false }],
  ['of the memory tier', {}],
])('at most 256 reads are late, and few in the beginning: %s', (_, options) => {
  const path = folder()
  const cache = open({ path, ...options })
  const looker = open({ path, reader: 'native' })
  cache.setSync('k', 'v')
  let latest = 0
  for (let done = 1; done <= 6000; done++) {
    cache.getSync('k')
    if (done % 7 !== 0) continue
    const late = done - told(looker).hits
    expect(late).toBeLessThanOrEqual(Math.min(done / 16, 256) + 17)
    latest = Math.max(latest, late)
  }
  // They do come in batches.
  expect(latest).toBeGreaterThan(100)
})

test('usage is told by namespace', async () => {
  const cache = open()
  cache.setSync('k', 'x')
  const nested = cache.namespace('shop').namespace('eu')
  for (const key of ['a', 'b']) nested.setSync(key, 'x'.repeat(1000))
  const usage = await cache.usage()
  expect(usage).toMatchObject([
    { namespace: ['shop', 'eu'], entries: 2 },
    { namespace: [], entries: 1 },
  ])
  expect(usage?.[0].bytes).toBeGreaterThan(2000)
  expect(await nested.usage(1)).toEqual(usage?.slice(0, 1))
  expect(await cache.usage(0)).toEqual([])
  for (const wrong of [-1, 1.5, true, null, '10', 2 ** 32, Number.NaN]) {
    for (const asked of [cache, open({})]) {
      await expect(asked.usage(wrong as never)).rejects.toBeInstanceOf(InvalidArgument)
    }
  }
})

test('without a directory there is nothing to tell', async () => {
  const cache = new Cache()
  expect(cache.machineStatsSync()).toBeUndefined()
  expect(await cache.machineStats()).toBeUndefined()
  expect(await cache.usage()).toBeUndefined()
  cache.closeSync()
  expect(() => cache.machineStatsSync()).toThrow(expect.objectContaining({ code: 'closed' }))
})
