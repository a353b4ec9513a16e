/** A worker thread with calls to a server under way. */
import { parentPort, workerData } from 'node:worker_threads'
import { Cache } from '../../src/index.ts'

const { url, prefix } = workerData as { url: string; prefix: string }
const cache = new Cache({ remote: url, prefix })
await cache.get('anything')

async function goOn(key: string): Promise<never> {
  for (;;) {
    await cache.set(key, key)
    await cache.get(key)
  }
}

for (let at = 0; at < 10; at++) goOn(`k${at}`)
cache.getOrSet('held', () => {
  parentPort?.postMessage('under way')
  return new Promise(() => {})
})
