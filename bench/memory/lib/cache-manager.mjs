import { createCache } from 'cache-manager'

/** `stores` makes its Keyv stores; without it has one of its own, which does not serialize. */
export const cacheManager = (stores) => ({
  packages: ['cache-manager'],
  ttl: true,
  bounded: false,
  awaited: true,
  open: ({ ttl }) => {
    const cache = createCache({ ttl: 1000 * ttl, ...(stores && { stores: stores() }) })
    return {
      set: (key, value) => cache.set(key, value),
      get: (key) => cache.get(key),
      mset: (items) => cache.mset(items),
      mget: (keys) => cache.mget(keys),
      delete: (key) => cache.del(key),
      // It lists no keys itself; its store does.
      keys: async () => {
        const keys = []
        for await (const [key] of cache.stores[0].iterator()) keys.push(key)
        return keys
      },
      clear: () => cache.clear(),
    }
  },
})
