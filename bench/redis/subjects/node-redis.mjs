// node-redis (npm: redis). Its pipeline is a method of its own, faster than many calls at once.

import { createClient } from 'redis'
import { serve } from '../lib/client.mjs'
import { decode, encode, flat } from '../lib/json.mjs'

serve({
  packages: ['redis'],
  notes: ['JSON'],
  open: async ({ port, prefix }) => {
    const redis = await createClient({ url: `redis://127.0.0.1:${port}` }).connect()
    /** Sends what `add` puts into it, and gives the replies. */
    const pipeline = (list, add) => {
      const pipeline = redis.multi()
      for (const one of list) add(pipeline, one)
      return pipeline.execAsPipeline()
    }
    return {
      set: (key, value) => redis.set(key, encode(value)),
      get: async (key) => decode(await redis.get(key)),
      setFor: (key, value, seconds) =>
        redis.set(key, encode(value), { expiration: { type: 'EX', value: seconds } }),
      ttl: (key) => redis.ttl(key),
      has: (key) => redis.exists(key),
      delete: (key) => redis.del(key),
      keys: () => redis.keys(`${prefix}key-*`),
      mset: (items) => redis.mSet(flat(items)),
      mget: async (keys) => (await redis.mGet(keys)).map(decode),
      mdelete: (keys) => redis.del(keys),
      pipelined: {
        mset: (items) => pipeline(items, (to, { key, value }) => to.set(key, encode(value))),
        mget: async (keys) => (await pipeline(keys, (to, key) => to.get(key))).map(decode),
        mdelete: (keys) => pipeline(keys, (to, key) => to.del(key)),
      },
      hset: (key, fields) => redis.hSet(key, fields),
      hget: (key, field) => redis.hGet(key, field),
      close: () => redis.close(),
    }
  },
})
