// The operations that are timed, the same for every client. Each workload takes { client, prefix } and the group's
// options, and returns its operations by name: `operation` is timed, after `prepare`.

import { items, small, values } from '../../memory/lib/values.mjs'
import { NotOffered } from '../../serve/subject.mjs'

export const HOUR = 3600
export const FIELDS = { field1: 'value1', field2: 'value2' }

const missing = (what) => ({
  operation: () => {
    throw new NotOffered(`it has no ${what}`)
  },
})

const one = ({ client, prefix, value: name }) => {
  const key = `${prefix}test-key`
  const hash = `${prefix}hash`
  const value = values[name]()
  const prepare = () => client.set(key, value)
  const some = {
    SET: { operation: () => client.set(key, value) },
    GET: { prepare, operation: () => client.get(key) },
  }
  if (name !== 'small') return some
  const prepareHash = () => client.hset(hash, FIELDS)
  return {
    ...some,
    EXISTS: { prepare, operation: () => client.has(key) },
    // Sets the key before, as on the page.
    DELETE: {
      operation: async () => {
        await client.set(key, value)
        return client.delete(key)
      },
    },
    'SET with TTL': { operation: () => client.setFor(key, value, HOUR) },
    TTL: {
      prepare: () => client.setFor(key, value, HOUR),
      operation: () => client.ttl(key),
    },
    HSET: client.hset
      ? { operation: () => client.hset(hash, FIELDS) }
      : missing('operations for hashes'),
    HGET: client.hget
      ? { prepare: prepareHash, operation: () => client.hget(hash, 'field1') }
      : missing('operations for hashes'),
  }
}

export const itemsOf = (prefix) =>
  items.map(({ key, value }) => ({ key: `${prefix}${key}`, value }))

/** Operations on 100 keys at once, as one command or as a hundred. `how` says what is missing where one is. */
const atOnce = ({ mset, mget, mdelete }, prefix, how) => {
  const given = itemsOf(prefix)
  const keys = given.map(({ key }) => key)
  const others = keys.map((_, number) => ({ key: `${prefix}delete-${number}`, value: small() }))
  const gone = others.map(({ key }) => key)
  return {
    SET: mset ? { operation: () => mset(given) } : missing(`way to write ${how}`),
    GET: mget ? { operation: () => mget(keys) } : missing(`way to read ${how}`),
    // Sets the keys before, as on the page.
    DELETE:
      mset && mdelete
        ? {
            operation: async () => {
              await mset(others)
              return mdelete(gone)
            },
          }
        : missing(`way to write and delete ${how}`),
  }
}

/** Each in one command, and as a command a key, which a cache without round trips has no use for; and KEYS. */
const batch = ({ client, prefix }) => {
  const set = client.mset ?? client.pipelined.mset
  const prepare = () => set(itemsOf(prefix))
  const { SET, GET, DELETE } = atOnce(client, prefix, '100 keys in one command')
  const whole = { SET, GET: { prepare, ...GET }, DELETE }
  const keys = { KEYS: { prepare, operation: () => client.keys() } }
  if (!client.pipelined) return { ...whole, ...keys }
  const pipelined = atOnce(client.pipelined, prefix, 'with a pipeline')
  return {
    ...whole,
    'SET, pipelined': pipelined.SET,
    'GET, pipelined': { prepare, ...pipelined.GET },
    'DELETE, pipelined': pipelined.DELETE,
    ...keys,
  }
}

export const workloads = { one, batch }
