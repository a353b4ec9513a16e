// Our host tier: the value is shared by all processes of the machine, loaded once a second, and
// decoded for each request. No request waits for Redis but those that find it expired.

import { Cache } from '../../../typescript/dist/index.js'

export function cachedForOneSecond(load) {
  const cache = new Cache({ path: process.env.CACHE_DIRECTORY })
  return () => cache.getOrSet('stream', load, { ttl: '1s' })
}
