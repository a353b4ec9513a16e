// Whether a client does what its rows say: run before anything is timed, in its own keys.

import { small, values } from '../../memory/lib/values.mjs'
import { same } from '../../serve/subject.mjs'
import { FIELDS, HOUR, itemsOf } from './workloads.mjs'

const fails = (what) => {
  throw new Error(what)
}

const one = async (client, key) => {
  for (const make of Object.values(values)) {
    await client.set(key, make())
    same(await client.get(key), make(), 'get')
  }
  if (!(await client.has(key))) fails('exists: a key that was set is not there')
  await client.delete(key)
  same((await client.get(key)) ?? null, null, 'get of a deleted key')
  if (await client.has(key)) fails('exists: a deleted key is there')
}

const expiring = async (client, key) => {
  await client.setFor(key, small(), HOUR)
  same(await client.get(key), small(), 'get of a key with a TTL')
  const left = await client.ttl(key)
  if (!(left > HOUR - 60 && left <= HOUR)) fails(`ttl: ${left} s are left of ${HOUR}`)
  await client.delete(key)
}

const many = async (client, { mset, mget, mdelete }, prefix) => {
  const items = itemsOf(prefix)
  const keys = items.map(({ key }) => key)
  const expected = items.map(({ value }) => value)
  if (mset) await mset(items)
  else for (const { key, value } of items) await client.set(key, value)
  for (const { key, value } of items) same(await client.get(key), value, 'get after mset')
  if (mget) same(await mget(keys), expected, 'mget')
  same([...(await client.keys())].sort(), [...keys].sort(), 'keys')
  if (mdelete) await mdelete(keys)
  else for (const key of keys) await client.delete(key)
  same(await client.keys(), [], 'keys that were deleted')
}

/** Throws unless the client behaves. */
export const check = async (client, prefix) => {
  const key = `${prefix}check`
  await one(client, key)
  await expiring(client, key)
  await many(client, client, prefix)
  if (client.pipelined) await many(client, client.pipelined, prefix)
  if (client.hset) {
    await client.hset(key, FIELDS)
    for (const [name, value] of Object.entries(FIELDS)) {
      same(await client.hget(key, name), value, 'hget')
    }
    await client.delete(key)
  }
}
