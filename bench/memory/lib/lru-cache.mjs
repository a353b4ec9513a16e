import { LRUCache } from 'lru-cache'

/** With the page's options; without `ttl` it keeps no times. */
export const open = ({ capacity, ttl }) => {
  const cache = new LRUCache({ max: capacity, ...(ttl && { ttl: 1000 * ttl }) })
  return {
    set: (key, value) => cache.set(key, value),
    get: (key) => cache.get(key),
    has: (key) => cache.has(key),
    delete: (key) => cache.delete(key),
    keys: () => [...cache.keys()],
    clear: () => cache.clear(),
  }
}

export const lruCache = { packages: ['lru-cache'], bounded: true, open }
