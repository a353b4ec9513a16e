// A replacement for a Redis on the same host: our host tier, as published, through promises.

import { Cache } from '../../../typescript/dist/index.js'
import { serve } from '../lib/client.mjs'

serve({
  notes: ['MessagePack', 'no server: shared between the processes of the machine'],
  open: ({ directory, prefix }) => {
    const cache = new Cache({ path: directory, limit: '16MiB' })
    return {
      set: (key, value) => cache.set(key, value),
      get: (key) => cache.get(key),
      setFor: (key, value, seconds) => cache.set(key, value, { ttl: { ms: 1000 * seconds } }),
      ttl: async (key) => Math.ceil((await cache.ttl(key)) / 1000),
      has: (key) => cache.has(key),
      delete: (key) => cache.delete(key),
      keys: async () => [...cache.keys(`${prefix}key-`)],
      mset: (items) => cache.setMany(items.map(({ key, value }) => [key, value])),
      mget: async (keys) => [...(await cache.getMany(keys)).values()],
      mdelete: (keys) => cache.deleteMany(keys),
      close: () => cache.close(),
    }
  },
})
