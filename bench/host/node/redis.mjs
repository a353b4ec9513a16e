// A local Redis through ioredis: one connection, a round trip per operation.

import { Redis } from 'ioredis'
import { GET, GET_100, NONE, PUT, PUT_100, serve, versionOf } from './lib/session.mjs'

serve(({ redis_port: port }) => {
  const redis = new Redis({ port })

  const fill = async (pairs) => {
    for (let first = 0; first < pairs.length; first += 100) {
      await redis.mset(pairs.slice(first, first + 100).flat())
    }
  }

  return {
    name: 'redis',
    bounded: false,
    durability: NONE,
    versions: { ioredis: versionOf('ioredis') },
    operations: {
      [PUT]: async (pairs) => {
        for (const [key, value] of pairs) await redis.set(key, value)
      },
      [PUT_100]: fill,
      [GET]: async (keys) => {
        let misses = 0
        for (const key of keys) if ((await redis.get(key)) === null) misses++
        return misses
      },
      [GET_100]: async (keys) => {
        let misses = 0
        for (let first = 0; first < keys.length; first += 100) {
          for (const value of await redis.mget(keys.slice(first, first + 100))) {
            if (value === null) misses++
          }
        }
        return misses
      },
    },
    fill,
    value: (key) => redis.get(key),
    close: () => redis.quit(),
  }
})
