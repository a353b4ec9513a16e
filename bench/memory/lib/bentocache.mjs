import { BentoCache, bentostore } from 'bentocache'
import { memoryDriver } from 'bentocache/drivers/memory'

/** With its memory layer alone. `serialize` says whether values are JSON there. */
export const bentocache = (serialize) => ({
  packages: ['bentocache'],
  ttl: true,
  bounded: true,
  awaited: true,
  open: ({ capacity, ttl }) => {
    const memory = bentostore().useL1Layer(memoryDriver({ maxItems: capacity, serialize }))
    const cache = new BentoCache({ default: 'memory', ttl: 1000 * ttl, stores: { memory } })
    return {
      set: (key, value) => cache.set({ key, value }),
      get: (key) => cache.get({ key }),
      has: (key) => cache.has({ key }),
      delete: (key) => cache.delete({ key }),
      clear: () => cache.clear(),
    }
  },
})
