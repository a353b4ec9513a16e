import { MemoryCache } from '../../../typescript/dist/memory.js'

/** Our memory tier alone, as published. Its byte limit is larger than any workload. */
export const open =
  ({ ttl: expiring = true, ...given }) =>
  ({ capacity, ttl }) => {
    const cache = new MemoryCache({
      maxEntries: capacity,
      maxBytes: '4GiB',
      ...(expiring && { ttl: { ms: Math.ceil(1000 * ttl) } }),
      ...given,
    })
    return {
      set: (key, value) => cache.set(key, value),
      get: (key) => cache.get(key),
      has: (key) => cache.has(key),
      delete: (key) => cache.delete(key),
      keys: () => [...cache.keys()],
      clear: () => cache.clear(),
    }
  }

export const polycacheMemory = { packages: [], bounded: true, awaited: false }
