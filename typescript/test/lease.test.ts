/** The lock of a key's name, over a directory and without one. */
import { expect, test } from 'vitest'
import { Cache, Closed, InvalidArgument, InvalidKey } from '../src/index.ts'
import { folder, open } from './support/caches.ts'
import { child } from './support/children.ts'

const KINDS: [string, () => Cache][] = [
  ['over a directory', () => open()],
  ['without a directory', () => new Cache()],
]

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test.each(KINDS)('%s: one has it at a time, and the next waits', async (_, make) => {
  const cache = make()
  const order: string[] = []
  const [first, ...others] = Array.from({ length: 5 }, () => cache.lease('k'))
  expect([first.lockedSync(), first.acquireSync(), first.acquireSync()]).toEqual([
    false,
    true,
    false,
  ])
  const waiting = others.map(async (lease, at) => {
    expect(await lease.acquire()).toBe(true)
    order.push(`${at} in`)
    await settle()
    order.push(`${at} out`)
    lease.releaseSync()
  })
  await settle()
  expect(order).toEqual([])
  await first.release()
  await Promise.all(waiting)
  // No caller came in while another was there.
  for (let at = 0; at < order.length; at += 2) {
    expect(order[at].replace('in', 'out')).toBe(order[at + 1])
  }
  expect([order.length, await first.locked()]).toEqual([8, false])
})

test.each(KINDS)('%s: it is let go of at the end of a block, and by closing', async (_, make) => {
  const cache = make()
  const lease = cache.lease('k')
  const other = cache.lease(Buffer.from('k'))
  await lease.acquire()
  await lease[Symbol.asyncDispose]()
  expect(other.acquireSync()).toBe(true)
  other[Symbol.dispose]()
  expect(lease.lockedSync()).toBe(false)
  await lease.acquire()
  cache.closeSync()
  expect(() => lease.acquireSync()).toThrow(Closed)
  lease.releaseSync()
})

test.each(KINDS)('%s: a wait ends by its time, by a signal, or is refused', async (_, make) => {
  const cache = make()
  const [held, lease] = [cache.lease('k'), cache.lease('k')]
  expect(held.acquireSync()).toBe(true)
  expect(await lease.acquire(false)).toBe(false)
  expect(await lease.acquire('2ms')).toBe(false)
  const controller = new AbortController()
  const waiting = lease.acquire(true, { signal: controller.signal }).catch((error) => error)
  await settle()
  controller.abort(new Error('enough'))
  expect(await waiting).toEqual(new Error('enough'))
  for (const wrong of ['soon', 5, null, { ms: -1 }, {}] as never[]) {
    await expect(lease.acquire(wrong)).rejects.toBeInstanceOf(InvalidArgument)
  }
  await expect(lease.acquire(true, { signal: 5 } as never)).rejects.toBeInstanceOf(InvalidArgument)
  expect(() => cache.lease(5 as never)).toThrow(InvalidKey)
  held.releaseSync()
})

test('handles that share a store: closing one frees what it has, not what others have', async () => {
  const path = folder()
  const [one, two] = [open({ path, limit: '4MiB' }), open({ path, limit: '4MiB' })]
  const [mine, theirs] = [one.lease('mine'), two.lease('theirs')]
  expect([mine.acquireSync(), theirs.acquireSync()]).toEqual([true, true])
  one.closeSync()
  expect([two.lease('mine').acquireSync(), two.lease('theirs').acquireSync()]).toEqual([
    true,
    false,
  ])
})

test('another process waits for it, and gets it when its holder is killed', async () => {
  const path = folder()
  const cache = open({ path, limit: '4MiB' })
  const process = child(path)
  expect(await process.call('lock', 'k')).toBe(true)
  const lease = cache.lease('k')
  expect([lease.lockedSync(), lease.acquireSync()]).toEqual([true, false])
  const waiting = lease.acquire()
  process.kill()
  expect(await waiting).toBe(true)
})

test('it has nothing to do with the entry: keys, clear, loads', async () => {
  const cache = open({ namespace: 'n' })
  const lease = cache.lease('k')
  expect(lease.acquireSync()).toBe(true)
  expect(await cache.getOrSet('k', () => 'v')).toBe('v')
  cache.clearSync()
  expect([[...cache.keys()], lease.lockedSync()]).toEqual([[], true])
  lease.releaseSync()
})
