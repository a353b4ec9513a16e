// Our remote tier over the benchmark's Redis, as published; its subjects differ in options.

import { Cache } from '../../../typescript/dist/index.js'

export const openRemote = ({ port, prefix, directory }, options) => {
  const remote = `redis://127.0.0.1:${port}`
  // A prefix ends with a colon, which the cache adds.
  const cache = new Cache({
    path: directory,
    limit: '16MiB',
    serializer: 'json',
    remote,
    prefix: `cache-${prefix.slice(0, -1)}`,
    ...options,
  })
  return {
    set: (key, value) => cache.set(key, value),
    get: (key) => cache.get(key),
    setFor: (key, value, seconds) => cache.set(key, value, { ttl: { ms: 1000 * seconds } }),
    ttl: async (key) => Math.ceil((await cache.ttl(key)) / 1000),
    has: (key) => cache.has(key),
    delete: (key) => cache.delete(key),
    keys: () => Array.fromAsync(cache.keys(`${prefix}key-`)),
    mset: (items) => cache.setMany(items.map(({ key, value }) => [key, value])),
    mget: async (keys) => [...(await cache.getMany(keys)).values()],
    mdelete: (keys) => cache.deleteMany(keys),
    close: () => cache.close(),
  }
}
