// Our host tier, from its sources, called synchronously. It is no memory cache: every process of the machine sees it.

import { Cache } from '../../../typescript/src/index.ts'
import { CLONE, serve } from '../lib/cache.mjs'

// Its limit is one of bytes. An entry of the small value takes about 130; twice that leaves room.
const ENTRY = 256
const SMALLEST = 16 * 2 ** 20

serve({
  packages: [],
  isolation: CLONE,
  ttl: true,
  bounded: true,
  notes: ['MessagePack', 'shared between processes'],
  open: ({ directory, capacity, ttl }) => {
    const cache = new Cache({
      path: directory,
      limit: Math.max(SMALLEST, capacity * ENTRY),
      ttl: { ms: 1000 * ttl },
    })
    return {
      set: (key, value) => cache.setSync(key, value),
      get: (key) => cache.getSync(key),
      mget: (keys) => cache.getManySync(keys),
      has: (key) => cache.hasSync(key),
      delete: (key) => cache.deleteSync(key),
      keys: () => [...cache.keys()],
      clear: () => cache.clearSync(),
      close: () => cache.closeSync(),
    }
  },
})
