// The TypeScript package, as it is published: text is encoded by every set and decoded by every get.

import { Cache } from '../../../typescript/dist/index.js'
import { GET, PUT, SURVIVES_KILL, serve } from './lib/session.mjs'

// The same through promises, as a program that may get a remote tier calls it.
const PUT_AWAITED = 'put, awaited'
const GET_AWAITED = 'get, awaited'

serve(({ directory, limit }) => {
  const cache = new Cache({ path: directory, limit })

  const fill = (pairs) => {
    for (const [key, value] of pairs) cache.setSync(key, value)
  }

  return {
    name: 'polycache',
    bounded: true,
    durability: SURVIVES_KILL,
    versions: {},
    operations: {
      [PUT]: fill,
      [PUT_AWAITED]: async (pairs) => {
        for (const [key, value] of pairs) await cache.set(key, value)
      },
      [GET]: (keys) => {
        let misses = 0
        for (const key of keys) if (cache.getSync(key) === undefined) misses++
        return misses
      },
      [GET_AWAITED]: async (keys) => {
        let misses = 0
        for (const key of keys) if ((await cache.get(key)) === undefined) misses++
        return misses
      },
    },
    fill,
    value: (key) => cache.getSync(key),
    turns: () => {
      const { blocksClaimed, maxRecord, limit } = cache.statsSync()
      return (blocksClaimed * (maxRecord + 32)) / limit
    },
    close: () => cache.close(),
  }
})
