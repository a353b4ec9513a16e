/** A worker thread with the cache open: it does what it is told by messages. */
import { parentPort, workerData } from 'node:worker_threads'
import { Cache } from '../../src/index.ts'

const cache = new Cache({ path: workerData as string })

parentPort?.on('message', ([command, key, value]: [string, string, unknown]) => {
  switch (command) {
    case 'set':
      cache.setSync(key, value)
      parentPort?.postMessage(cache.getSync(key))
      break
    case 'get':
      parentPort?.postMessage(cache.getSync(key) ?? null)
      break
    case 'count': {
      const sums = Array.from({ length: value as number }, () => cache.incrementSync(key))
      parentPort?.postMessage(sums)
      break
    }
    case 'hold':
      cache.getOrSet(key, () => {
        parentPort?.postMessage('loading')
        return new Promise(() => {})
      })
      break
    case 'close':
      cache.closeSync()
      parentPort?.postMessage('closed')
      parentPort?.close()
  }
})
