import { BentoCache, bentostore } from 'bentocache'
import { memoryDriver } from 'bentocache/drivers/memory'
import { redisBusDriver, redisDriver } from 'bentocache/drivers/redis'
import { serve, version } from './lib/subject.mjs'

let cache
await serve({
  versions: await version('bentocache'),
  open: ({ url }) => {
    const { hostname: host, port, password } = new URL(url)
    const connection = { host, port: Number(port), password: password || undefined }
    const store = bentostore()
      .useL1Layer(memoryDriver({ maxSize: '10mb' }))
      .useL2Layer(redisDriver({ connection }))
      .useBus(redisBusDriver({ connection }))
    cache = new BentoCache({ default: 'two', stores: { two: store } })
    cache.on('bus:message:published', () => {})
  },
  get: (key) => cache.get({ key }),
  set: (key, value) => cache.set({ key, value }),
  load: (key) => cache.getOrSet({ key, factory: () => 'loaded' }),
})
