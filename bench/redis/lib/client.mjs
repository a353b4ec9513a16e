// What every subject of this benchmark shares. A subject's file calls `serve` with
//   packages     npm packages whose versions are told; `versions` holds others
//   notes        said in each row
//   open({ port, prefix, directory }) a connection to the Redis on that port, or its replacement. Its methods:
//     set(key, value), get(key)                values are objects, encoded as JSON and parsed (lib/json.mjs)
//     setFor(key, value, seconds), ttl(key)    in one round trip each; seconds
//     has(key), delete(key), keys()            keys: those that begin with the prefix and `key-`, by pattern
//     mset(items), mget(keys), mdelete(keys)   [{ key, value }], in one command each
//     pipelined: the same three, of one command a key, sent at once; none where there are no round trips
//     hset(key, fields), hget(key, field)      of text
//     close()
//   One that it lacks is a row that says so.
// All return promises, which are awaited one after the other.

import { basename } from 'node:path'
import { measure } from 'mitata'
import { timer } from '../../serve/mitata.mjs'
import { serve as answer, versionOf } from '../../serve/subject.mjs'
import { check } from './check.mjs'
import { workloads } from './workloads.mjs'

const FOLDER = new URL('../', import.meta.url)

/** The main function of a subject's file. Rows call it as the file is called. */
export const serve = ({ packages = [], versions = {}, notes = [], open }) =>
  answer(async ({ kind, redis_port: port, directory, ...options }) => {
    if (!port) throw new Error('there is no Redis here')
    const name = basename(process.argv[1], '.mjs')
    const client = await open({ port, prefix: `${name}:`, directory })
    const time = timer(measure)
    const run = ({ prepare, operation }) => {
      return async (seconds) => {
        await prepare?.()
        return time(operation, seconds)
      }
    }
    const operations = workloads[kind]({ client, prefix: `${name}:`, ...options })
    return {
      name,
      versions: {
        ...versions,
        ...Object.fromEntries(packages.map((name) => [name, versionOf(name, FOLDER)])),
      },
      notes,
      operations: Object.fromEntries(
        Object.entries(operations).map(([name, operation]) => [name, run(operation)]),
      ),
      check: () => check(client, `${name}:`),
      close: () => client.close(),
    }
  })
