import { Keyv } from 'keyv'

/** With its own store, a Map. `serialization` is false or undefined, which is JSON. */
export const keyv = (serialization) => ({
  packages: ['keyv'],
  ttl: true,
  bounded: false,
  awaited: true,
  open: ({ ttl }) => {
    const cache = new Keyv({ ttl: 1000 * ttl, serialization })
    return {
      set: (key, value) => cache.set(key, value),
      get: (key) => cache.get(key),
      mset: (items) => cache.setMany(items),
      mget: (keys) => cache.getMany(keys),
      has: (key) => cache.has(key),
      delete: (key) => cache.delete(key),
      keys: async () => {
        const keys = []
        for await (const [key] of cache.iterator()) keys.push(key)
        return keys
      },
      clear: () => cache.clear(),
    }
  },
})
