/** Worker threads open a directory for themselves; a cache is not handed to them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { Cache } from 'polycache'

if (isMainThread) {
  const cache = new Cache({ path: process.argv[2] })
  cache.setSync('k', 'from the main thread')
  const worker = new Worker(new URL(import.meta.url), { workerData: cache.path })
  assert.deepEqual(await once(worker, 'message'), ['from the main thread'])
  assert.equal(cache.getSync('answer'), 'from the worker')
  await worker.terminate()
  console.log('ok')
} else {
  const cache = new Cache({ path: workerData })
  cache.setSync('answer', 'from the worker')
  parentPort.postMessage(cache.getSync('k'))
}
