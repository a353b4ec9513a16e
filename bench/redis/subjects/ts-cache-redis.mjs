// ts-cache's redis driver, which is Bun's client below. From a checkout, and on Bun only (run.py).

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { serve } from '../lib/client.mjs'

const folder = resolve(process.env.TS_CACHE)
const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

serve({
  versions: { 'ts-cache, a checkout': version },
  notes: ['JSON', "on Bun's client"],
  open: async ({ port, prefix }) => {
    const { CacheManager } = await import(join(folder, 'src', 'manager.ts'))
    const cache = new CacheManager({ driver: 'redis', url: `redis://127.0.0.1:${port}` })
    const mget = async (keys) => {
      const found = await cache.mget(keys)
      return keys.map((key) => found[key])
    }
    return {
      set: (key, value) => cache.set(key, value),
      get: (key) => cache.get(key),
      setFor: (key, value, seconds) => cache.set(key, value, seconds),
      // It gives the time at which the key expires.
      ttl: async (key) => Math.round(((await cache.getTtl(key)) - Date.now()) / 1000),
      has: (key) => cache.has(key),
      delete: (key) => cache.del(key),
      keys: () => cache.keys(`${prefix}key-*`),
      mget,
      mdelete: (keys) => cache.del(keys),
      // Its mset is a SET for each; its mget and its del are one command.
      pipelined: {
        mset: (items) => cache.mset(items),
        mdelete: (keys) => cache.del(keys),
      },
      close: () => cache.close(),
    }
  },
})
