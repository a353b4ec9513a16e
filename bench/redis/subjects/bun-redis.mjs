// Bun's own client; on Bun only (run.py). It sends all commands of one turn of the event loop at once.

import { RedisClient } from 'bun'
import { serve } from '../lib/client.mjs'
import { decode, encode, flat } from '../lib/json.mjs'

serve({
  versions: { bun: Bun.version },
  notes: ['JSON'],
  open: async ({ port, prefix }) => {
    const redis = new RedisClient(`redis://127.0.0.1:${port}`)
    await redis.connect()
    const all = (list, ask) => Promise.all(list.map(ask))
    return {
      set: (key, value) => redis.set(key, encode(value)),
      get: async (key) => decode(await redis.get(key)),
      setFor: (key, value, seconds) => redis.set(key, encode(value), 'EX', seconds),
      ttl: (key) => redis.ttl(key),
      has: (key) => redis.exists(key),
      delete: (key) => redis.del(key),
      keys: () => redis.keys(`${prefix}key-*`),
      mset: (items) => redis.mset(...flat(items)),
      mget: async (keys) => (await redis.mget(...keys)).map(decode),
      mdelete: (keys) => redis.del(...keys),
      pipelined: {
        mset: (items) => all(items, ({ key, value }) => redis.set(key, encode(value))),
        mget: async (keys) => (await all(keys, (key) => redis.get(key))).map(decode),
        mdelete: (keys) => all(keys, (key) => redis.del(key)),
      },
      hset: (key, fields) => redis.hset(key, fields),
      hget: (key, field) => redis.hget(key, field),
      close: () => redis.close(),
    }
  },
})
