// Whether a subject does what its rows say: run before anything is timed, on a cache of its own.

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { same } from '../../serve/subject.mjs'
import { items, small, values } from './values.mjs'

const KEY = 'check'
const CAPACITY = 1000
// Seconds that an entry lives where it is waited for.
const BRIEF = 0.05

const fails = (what) => {
  throw new Error(what)
}

/** A result of `mget` as a list, whatever it is. */
export const listOf = (found) => {
  if (Array.isArray(found)) return found
  if (found instanceof Map) return [...found.values()]
  return items.map(({ key }) => found[key])
}

const one = async (cache) => {
  for (const make of Object.values(values)) {
    await cache.set(KEY, make())
    same(await cache.get(KEY), make(), 'get')
  }
  if (cache.has && !(await cache.has(KEY))) fails('has: a key that was set is not there')
  await cache.delete(KEY)
  if ((await cache.get(KEY)) != null) fails('get: a deleted key has a value')
  if (cache.has && (await cache.has(KEY))) fails('has: a deleted key is there')
}

const hundred = async (cache) => {
  if (cache.mset) await cache.mset(items)
  else for (const { key, value } of items) await cache.set(key, value)
  const keys = items.map(({ key }) => key)
  const expected = items.map(({ value }) => value)
  const found = cache.mget ? listOf(await cache.mget(keys)) : []
  if (!cache.mget) for (const key of keys) found.push(await cache.get(key))
  same(found, expected, 'mget')
  if (cache.keys) same([...(await cache.keys())].sort(), [...keys].sort(), 'keys')
  await cache.clear()
  for (const key of keys) if ((await cache.get(key)) != null) fails('clear: a key is left')
  if (cache.keys) same(await cache.keys(), [], 'keys after clear')
}

const isolated = async (cache, isolation) => {
  const given = small()
  await cache.set(KEY, given)
  if (isolation === 'none') {
    if ((await cache.get(KEY)) !== given) fails('it does not give back the object itself')
    return
  }
  given.name = 'changed'
  const got = await cache.get(KEY)
  same(got, small(), 'get after the object that was set has changed')
  if (isolation === 'frozen') {
    if (!Object.isFrozen(got) || (await cache.get(KEY)) !== got)
      fails('it is not one frozen object')
    return
  }
  got.name = 'changed'
  same(await cache.get(KEY), small(), 'get after the object that was got has changed')
}

const expires = async (cache, ttl) => {
  await cache.set(KEY, small())
  same(await cache.get(KEY), small(), 'get before it expires')
  await sleep(2000 * BRIEF)
  const found = await cache.get(KEY)
  if (ttl) same(found ?? null, null, 'get after it has expired')
  else same(found, small(), 'get, without TTL')
}

/** Throws unless the subject's caches behave. Expiry, which is waited for, is looked at in one workload only. */
export const check = async (subject, { directory, value }) => {
  const using = async (ttl, look) => {
    const folder = mkdtempSync(join(directory, 'check-'))
    const cache = await subject.open({ directory: folder, capacity: CAPACITY, ttl })
    try {
      await look(cache)
    } finally {
      await cache.close?.()
    }
  }
  await using(100, async (cache) => {
    await one(cache)
    await hundred(cache)
    await isolated(cache, subject.isolation)
  })
  if (value === 'small') await using(BRIEF, (cache) => expires(cache, subject.ttl))
}
