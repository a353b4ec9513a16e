import KeyvRedis from '@keyv/redis'
import { createCache } from 'cache-manager'
import Keyv from 'keyv'
import { serve, version } from './lib/subject.mjs'

let cache
await serve({
  versions: await version('cache-manager'),
  open: ({ url }) => {
    const store = new Keyv({ store: new KeyvRedis(url), namespace: 'manager' })
    store.on('error', () => {})
    cache = createCache({ stores: [store] })
  },
  get: (key) => cache.get(key),
  set: (key, value) => cache.set(key, value),
  load: (key) => cache.wrap(key, () => 'loaded'),
})
