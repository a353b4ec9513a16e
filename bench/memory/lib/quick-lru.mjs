import QuickLRU from 'quick-lru'

/** Without `ttl` it keeps no times. */
export const open = ({ capacity, ttl }) => {
  const cache = new QuickLRU({ maxSize: capacity, ...(ttl && { maxAge: 1000 * ttl }) })
  return {
    set: (key, value) => cache.set(key, value),
    get: (key) => cache.get(key),
    has: (key) => cache.has(key),
    delete: (key) => cache.delete(key),
    keys: () => [...cache.keys()],
    clear: () => cache.clear(),
  }
}

export const quickLru = {
  packages: ['quick-lru'],
  bounded: true,
  notes: ['holds up to twice its capacity'],
  open,
}
