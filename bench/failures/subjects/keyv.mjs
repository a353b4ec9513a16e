import KeyvRedis from '@keyv/redis'
import Keyv from 'keyv'
import { serve, version } from './lib/subject.mjs'

let cache
await serve({
  versions: { ...(await version('keyv')), ...(await version('@keyv/redis')) },
  open: ({ url }) => {
    cache = new Keyv({ store: new KeyvRedis(url), namespace: 'keyv' })
    cache.on('error', () => {})
  },
  get: (key) => cache.get(key),
  set: (key, value) => cache.set(key, value),
})
