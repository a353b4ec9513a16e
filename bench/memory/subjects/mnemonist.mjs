// mnemonist's LRUMap, the one that can delete. It has no TTL.

import { LRUMapWithDelete } from 'mnemonist'
import { NONE, serve } from '../lib/cache.mjs'

serve({
  packages: ['mnemonist'],
  isolation: NONE,
  ttl: false,
  bounded: true,
  notes: ['LRUMapWithDelete'],
  open: ({ capacity }) => {
    const cache = new LRUMapWithDelete(capacity)
    return {
      set: (key, value) => cache.set(key, value),
      get: (key) => cache.get(key),
      has: (key) => cache.has(key),
      delete: (key) => cache.delete(key),
      keys: () => [...cache.keys()],
      clear: () => cache.clear(),
    }
  },
})
