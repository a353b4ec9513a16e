// Cached reads of the stream: its JSON, encoded once for each change of it, and kept coherent by the listener.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { cached } from 'polycache/reads'
import { createClient } from 'redis'
import { KEY } from './answer.mjs'

const port = Number(process.env.REDIS_PORT)

const MAKERS = {
  bunredis: async () => {
    const url = `redis://127.0.0.1:${port}`
    const client = new Bun.RedisClient(url)
    const reads = cached(client, { remote: url, path: process.env.CACHE_DIRECTORY })
    return { reads, read: () => reads.json.xrange(KEY, '-', '+') }
  },
  ioredis: async () => {
    const reads = cached(new Redis(port, '127.0.0.1'), { path: process.env.CACHE_DIRECTORY })
    return { reads, read: () => reads.json.xrange(KEY, '-', '+') }
  },
  redis: async () => {
    const client = createClient({ socket: { host: '127.0.0.1', port } })
    const reads = cached(await client.connect(), { path: process.env.CACHE_DIRECTORY })
    return { reads, read: () => reads.json.xRange(KEY, '-', '+') }
  },
}

/** What reads the stream's JSON by a client of that package, once this host hears of its changes. */
export async function reader(client) {
  const { reads, read } = await MAKERS[client]()
  while (reads.stats().memoryHits === 0) {
    await read()
    await sleep(5)
  }
  return read
}

/** The page's answer around it, whose bytes are not touched. */
export async function answer(read) {
  const start = Date.now()
  const value = await read()
  const end = Date.now()
  return value.within('value', { start, end, endDate: new Date(end) }, { incidental: true })
}
