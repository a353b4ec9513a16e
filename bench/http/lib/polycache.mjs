// Our host tier: the value is shared by all processes of the machine, loaded once a second, and
// decoded for each request. Only requests that find it expired wait for Redis.

import { Cache } from '../../../typescript/dist/index.js'

export function cachedForOneSecond(load) {
  const cache = new Cache({ path: process.env.CACHE_DIRECTORY })
  return () => cache.getOrSet('stream', load, { ttl: '1s' })
}
