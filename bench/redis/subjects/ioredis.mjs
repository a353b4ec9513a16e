// ioredis. Its pipeline is a method of its own.

import { Redis } from 'ioredis'
import { serve } from '../lib/client.mjs'
import { decode, encode, flat } from '../lib/json.mjs'

serve({
  packages: ['ioredis'],
  notes: ['JSON'],
  open: ({ port, prefix }) => {
    const redis = new Redis({ port })
    /** Sends what `add` puts into it, and gives the replies. */
    const pipeline = async (list, add) => {
      const pipeline = redis.pipeline()
      for (const one of list) add(pipeline, one)
      const replies = await pipeline.exec()
      return replies.map(([error, reply]) => {
        if (error) throw error
        return reply
      })
    }
    return {
      set: (key, value) => redis.set(key, encode(value)),
      get: async (key) => decode(await redis.get(key)),
      setFor: (key, value, seconds) => redis.set(key, encode(value), 'EX', seconds),
      ttl: (key) => redis.ttl(key),
      has: (key) => redis.exists(key),
      delete: (key) => redis.del(key),
      keys: () => redis.keys(`${prefix}key-*`),
      mset: (items) => redis.mset(flat(items)),
      mget: async (keys) => (await redis.mget(keys)).map(decode),
      mdelete: (keys) => redis.del(keys),
      pipelined: {
        mset: (items) => pipeline(items, (to, { key, value }) => to.set(key, encode(value))),
        mget: async (keys) => (await pipeline(keys, (to, key) => to.get(key))).map(decode),
        mdelete: (keys) => pipeline(keys, (to, key) => to.del(key)),
      },
      hset: (key, fields) => redis.hset(key, fields),
      hget: (key, field) => redis.hget(key, field),
      close: () => redis.quit(),
    }
  },
})
