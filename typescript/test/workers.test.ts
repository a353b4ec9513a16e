/** Worker threads: each opens the directory for itself. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { open } from './support/caches.ts'

const SCRIPT = new URL('support/worker.ts', import.meta.url)
function start(path: string): Worker {
  return new Worker(SCRIPT, { workerData: path })
}

async function call(worker: Worker, ...command: unknown[]): Promise<unknown> {
  const answer = once(worker, 'message')
  worker.postMessage(command)
  return (await answer)[0]
}

test('they and the main thread share the cache', async () => {
  const cache = open()
  const workers = [start(cache.path!), start(cache.path!)]
  for (let turn = 0; turn < 50; turn++) {
    expect(await call(workers[0], 'set', 'k', { turn })).toEqual({ turn })
    expect(cache.getSync('k')).toEqual({ turn })
    expect(await call(workers[1], 'get', 'k')).toEqual({ turn })
    cache.deleteSync('k')
    expect(await call(workers[1], 'get', 'k')).toBeNull()
  }
  expect(await call(workers[0], 'close')).toBe('closed')
  await workers[1].terminate()
  cache.setSync('k', 'still here')
  expect(cache.getSync('k')).toBe('still here')
})

test('one that is terminated while it loads leaves the key to the next caller', async () => {
  const cache = open()
  const worker = start(cache.path!)
  expect(await call(worker, 'hold', 'k')).toBe('loading')
  const waiting = cache.getOrSet('k', () => 'own')
  await worker.terminate()
  expect(await waiting).toBe('own')
  expect(cache.getSync('k')).toBe('own')
})

test('many come and go', async () => {
  const cache = open()
  cache.setSync('k', 'v')
  for (let turn = 0; turn < 10; turn++) {
    const worker = start(cache.path!)
    expect(await call(worker, 'get', 'k')).toBe('v')
    await worker.terminate()
  }
  expect(cache.getSync('k')).toBe('v')
  expect((await cache.check()).damaged).toEqual([])
})
