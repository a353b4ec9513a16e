// Memory and host tier by the methods that return promises: what a promise costs.

import { CLONE, serve } from '../lib/cache.mjs'
import { openTiers, polycacheTiers } from '../lib/polycache-tiers.mjs'

serve({
  ...polycacheTiers,
  isolation: CLONE,
  awaited: true,
  open: (options) => {
    const cache = openTiers(options, {})
    return {
      set: (key, value) => cache.set(key, value),
      get: (key) => cache.get(key),
      mget: (keys) => cache.getMany(keys),
      has: (key) => cache.has(key),
      delete: (key) => cache.delete(key),
      keys: async () => [...cache.keys()],
      clear: () => cache.clear(),
      close: () => cache.close(),
    }
  },
})
