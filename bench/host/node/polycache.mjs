// The TypeScript package, as it is published: text is encoded by every set, and decoded by every get that memory does not
// answer. By default there is a memory tier, of 10,000 entries.

import { Cache } from '../../../typescript/dist/index.js'
import {
  GET,
  GET_ALL_IN_MEMORY,
  GET_TENTH_IN_MEMORY,
  GET_WITHOUT_MEMORY,
  PUT,
  SURVIVES_KILL,
  serve,
} from './lib/session.mjs'

// The same through promises, as a program that may get a remote tier calls it.
const PUT_AWAITED = 'put, awaited'
const GET_AWAITED = 'get, awaited'

const reading = (cache) => (keys) => {
  let misses = 0
  for (const key of keys) if (cache.getSync(key) === undefined) misses++
  return misses
}

serve(({ directory, limit, keys }) => {
  const opened = (memory) => new Cache({ path: directory, limit, memory })
  const cache = new Cache({ path: directory, limit })
  const withoutMemory = opened(false)
  const allInMemory = opened({ maxEntries: keys, maxBytes: '4GiB' })
  const tenthInMemory = opened({ maxEntries: keys / 10, maxBytes: '4GiB' })

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
      [GET]: reading(cache),
      [GET_WITHOUT_MEMORY]: reading(withoutMemory),
      [GET_ALL_IN_MEMORY]: reading(allInMemory),
      [GET_TENTH_IN_MEMORY]: reading(tenthInMemory),
      [GET_AWAITED]: async (keys) => {
        let misses = 0
        for (const key of keys) if ((await cache.get(key)) === undefined) misses++
        return misses
      },
    },
    fill,
    value: (key) => cache.getSync(key),
    turns: () => {
      const { blocksClaimed, limit } = cache.statsSync()
      // A 512th of the limit, from 64 KiB to 16 MiB, rounded down to a power of two (spec/host.md).
      const most = Math.min(Math.max(limit / 512, 64 << 10), 16 << 20)
      return (blocksClaimed * 2 ** Math.floor(Math.log2(most))) / limit
    },
    close: () => {
      for (const one of [cache, withoutMemory, allInMemory, tenthInMemory]) one.close()
    },
  }
})
