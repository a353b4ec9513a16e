// What every subject shares. Its file calls `serve` with
//   name, packages (of npm) or versions, notes
//   prefixes                   false where the caller has to name the keys in full
//   open({ port, namespace, canned })  a connected client; `canned` has its socket taken out, where that can be had
//   operations(client, data)   the page's operations: functions that make one round trip and return a promise
//   strips                     false where a reply keeps the prefix that the client wrote
//   close(client)

import { basename } from 'node:path'
import { serve as answer, same, versionOf } from '../../../serve/subject.mjs'
import {
  dataset,
  expected,
  FIELDS,
  ITEMS,
  keysOf,
  MEMBERS,
  SCORES,
  STRING,
  TEN,
  UNORDERED,
} from './dataset.mjs'
import { connect } from './raw.mjs'

const HERE = new URL('..', import.meta.url)
const UNITS = { rate: 'operations per second', nanoseconds: 'ns per operation' }
// Share of a round's seconds that it warms up in, and operations between two looks at the clock.
const WARM_UP = 0.2
const BATCH = 16

export const serve = (kind) =>
  answer(async ({ redis_port: port, measure, operations: asked }) => {
    if (!port) throw new Error('there is no redis-server here')
    const alone = measure === 'nanoseconds'
    // Of the same length for all, so that all put the same number of bytes on the wire.
    const namespace = `app${String(process.pid).padStart(7, '0')}`
    const data = dataset(kind.prefixes ? '' : `${namespace}:`)
    const canned = alone ? new Canned() : undefined
    const client = await kind.open({ port, namespace, canned })
    const all = kind.operations(client, data)
    const bare = await connect(port)
    const names = asked.length > 0 ? asked.filter((name) => name in all) : Object.keys(all)
    const wrote = kind.prefixes ? 'writes the prefix' : 'no namespace: the caller writes the prefix'

    const compare = async (name) => {
      const should = expected(kind.strips === false ? dataset(`${namespace}:`) : data)[name]
      let found = await all[name]()
      if (UNORDERED.includes(name)) found = [...found].sort()
      same(name === 'HGETALL' ? { ...found } : found, should, name)
    }

    // Every key that is there now.
    const written = (full) =>
      keysOf('MULTI/EXEC' in all ? full : { ...full, first: [], second: [] })

    const round = (name) => async (seconds) => {
      canned?.play(name)
      if (name === 'LPUSH' && !alone) await bare('DEL', `${namespace}:pushed`)
      await timed(all[name], seconds * WARM_UP)
      const nanoseconds = await timed(all[name], seconds * (1 - WARM_UP))
      return alone ? nanoseconds : 1e9 / nanoseconds
    }

    return {
      name: kind.name,
      versions: {
        ...kind.versions,
        ...Object.fromEntries(
          (kind.packages ?? []).map((name) => [`${name} (npm)`, versionOf(name, HERE)]),
        ),
      },
      notes: [wrote, ...(kind.notes ?? [])],
      operations: Object.fromEntries(
        names.map((name) => [name, { unit: UNITS[measure], run: round(name) }]),
      ),
      async check() {
        const full = dataset(`${namespace}:`)
        await prepare(bare, full)
        for (const name of Object.keys(all)) {
          await bare('DEL', full.pushed)
          canned?.record(name)
          await compare(name)
        }
        canned?.record(undefined)
        await all.LPUSH()
        same((await bare('KEYS', `${namespace}*`)).sort(), written(full), 'keys on the server')
        same(await bare('EXISTS', ...keysOf(dataset(''))), 0, 'keys without prefix')
        same(await bare('GET', full.key), STRING, 'a value on the server')
        if (!alone) return
        for (const name of Object.keys(all)) {
          canned.play(name)
          await compare(name)
          await compare(name)
        }
      },
      async close() {
        canned?.play(undefined)
        await kind.close(client)
        bare.close()
      },
    }
  })

/** Replies that are kept and given again, for the cost of the client alone. */
class Canned {
  #kept = new Map()
  #recorded
  #replies
  #next = 0

  record(name) {
    this.#recorded = name === undefined ? undefined : []
    if (name !== undefined) this.#kept.set(name, this.#recorded)
  }

  play(name) {
    this.#recorded = undefined
    this.#replies = this.#kept.get(name)
    this.#next = 0
  }

  get plays() {
    return this.#replies !== undefined
  }

  keep(reply) {
    this.#recorded?.push(copyOf(reply))
  }

  /** The next reply; of a list a copy, because a client may change it. */
  next() {
    const reply = this.#replies[this.#next]
    this.#next = (this.#next + 1) % this.#replies.length
    return copyOf(reply)
  }
}

const copyOf = (reply) => (Array.isArray(reply) ? reply.map(copyOf) : reply)

/** Nanoseconds of one. */
async function timed(operation, seconds) {
  const start = performance.now()
  const end = start + 1000 * seconds
  for (let done = 0; ; ) {
    for (let n = 0; n < BATCH; n++) await operation()
    done += BATCH
    const now = performance.now()
    if (now >= end) return (1e6 * (now - start)) / done
  }
}

/** Writes what the reads find, through a connection without any namespace. */
async function prepare(bare, data) {
  await bare('DEL', ...keysOf(data))
  await bare('RPUSH', data.list, ...ITEMS)
  await bare('HSET', data.hash, ...Object.entries(FIELDS).flat())
  await bare('SADD', data.set, ...MEMBERS)
  await bare(
    'ZADD',
    data.sorted,
    ...Object.entries(SCORES).flatMap(([member, score]) => [String(score), member]),
  )
  for (const keys of [data.many, data.users]) {
    for (const [n, key] of keys.entries()) await bare('SET', key, TEN[n])
  }
}

/** The name of a subject is its file's. */
export const nameOf = (url) => basename(new URL(url).pathname, '.mjs')
