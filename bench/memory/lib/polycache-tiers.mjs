import { Cache } from '../../../typescript/dist/index.js'

// The directory's limit is one of bytes. An entry of the small value takes about 130; twice that leaves room.
const ENTRY = 256
const SMALLEST = 16 * 2 ** 20

/** A cache in a directory, as it is published; `memory` is its memory tier's options, or false. */
export const openTiers = ({ directory, capacity, ttl }, memory) =>
  new Cache({
    path: directory,
    limit: Math.max(SMALLEST, capacity * ENTRY),
    ttl: { ms: Math.ceil(1000 * ttl) },
    memory: memory && { maxEntries: capacity, maxBytes: '4GiB', ...memory },
  })

/** Its synchronous twins. */
export const sync = (cache) => ({
  set: (key, value) => cache.setSync(key, value),
  get: (key) => cache.getSync(key),
  mget: (keys) => cache.getManySync(keys),
  has: (key) => cache.hasSync(key),
  delete: (key) => cache.deleteSync(key),
  keys: () => [...cache.keys()],
  clear: () => cache.clearSync(),
  close: () => cache.closeSync(),
})

export const polycacheTiers = {
  packages: [],
  ttl: true,
  bounded: true,
  notes: ['MessagePack', 'shared between processes'],
}
