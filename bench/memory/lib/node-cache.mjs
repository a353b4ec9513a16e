import NodeCache from 'node-cache'

export const FULL = 'refuses new keys when it is full'

/** With the page's options, and a limit on its keys. */
export const nodeCache = (useClones) => ({
  packages: ['node-cache'],
  bounded: true,
  notes: [FULL],
  open: ({ capacity, ttl }) => {
    const cache = new NodeCache({ stdTTL: ttl, checkperiod: 120, maxKeys: capacity, useClones })
    return {
      set: (key, value) => cache.set(key, value),
      get: (key) => cache.get(key),
      mget: (keys) => cache.mget(keys),
      has: (key) => cache.has(key),
      delete: (key) => cache.del(key),
      keys: () => cache.keys(),
      clear: () => cache.flushAll(),
      close: () => cache.close(),
    }
  },
})
