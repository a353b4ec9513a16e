import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Cache } from '@stacksjs/ts-cache'
import { FULL } from './node-cache.mjs'

/** The synchronous cache of the package, with the page's options and a limit on its keys. */
export const tsCacheSync = (useClones) => ({
  packages: ['@stacksjs/ts-cache'],
  bounded: true,
  notes: [FULL],
  open: ({ capacity, ttl }) => {
    const cache = new Cache({ stdTTL: ttl, checkPeriod: 120, maxKeys: capacity, useClones })
    return {
      set: (key, value) => cache.set(key, value),
      get: (key) => cache.get(key),
      mget: (keys) => cache.mget(keys),
      has: (key) => cache.has(key),
      delete: (key) => cache.del(key),
      keys: () => cache.keys(),
      clear: () => cache.flushAll(),
      close: () => cache.close(),
    }
  },
})

/** The version in a checkout's package.json. */
const checkoutVersion = (folder) => {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return { 'ts-cache, a checkout': version }
}

/**
 * A cache with promises, from the checkout in TS_CACHE: npm's package has none. `options` makes the manager's options
 * out of those that each subject is given.
 */
export const tsCacheAsync = (options, more = {}) => {
  const folder = resolve(process.env.TS_CACHE)
  return {
    packages: [],
    versions: checkoutVersion(folder),
    ttl: true,
    awaited: true,
    ...more,
    open: async (given) => {
      const load = (file) => import(join(folder, 'src', file))
      const { CacheManager } = await load('manager.ts')
      const cache = new CacheManager(await options(given, load))
      return {
        set: (key, value) => cache.set(key, value),
        get: (key) => cache.get(key),
        mset: (items) => cache.mset(items),
        mget: (keys) => cache.mget(keys),
        has: (key) => cache.has(key),
        delete: (key) => cache.del(key),
        keys: () => cache.keys(),
        clear: () => cache.flush(),
        close: () => cache.close(),
      }
    },
  }
}

/** The page's `memory`: unbounded. */
export const memory = (useClones) =>
  tsCacheAsync(({ ttl }) => ({ driver: 'memory', stdTTL: ttl, useClones }), { bounded: false })

/** The page's `memory-lru`: its script gives the memory driver a limit, and the driver refuses. */
export const memoryLru = (useClones) =>
  tsCacheAsync(
    ({ capacity, ttl }) => ({ driver: 'memory', stdTTL: ttl, maxKeys: capacity, useClones }),
    { bounded: true, notes: ["the page's memory-lru: the memory driver with maxKeys", FULL] },
  )

/** The driver of that name, which the page did not measure. */
export const lruDriver = (useClones) =>
  tsCacheAsync(
    async ({ capacity, ttl }, load) => {
      const { MemoryLRUDriver } = await load('drivers/memory-lru.ts')
      return {
        customDriver: new MemoryLRUDriver({ stdTTL: ttl, maxKeys: capacity, useClones }),
      }
    },
    { bounded: true, notes: ['MemoryLRUDriver, which evicts'] },
  )
