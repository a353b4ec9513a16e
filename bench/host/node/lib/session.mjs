// What every Node subject of the benchmark shares: it answers the controller's lines of JSON
// (bench/host/README.md) on behalf of a subject.
//
// A subject is an object of
//   name         ours begin with `polycache`
//   bounded      true for a store that keeps within its byte limit by recycling: it is filled
//                beyond the limit before anything is timed
//   durability   what a write survives once it has returned
//   versions     names and versions of what is measured
//   operations   by name: takes `[key, value]` pairs, or keys and returns how many found nothing
//   fill(pairs)  writes everything, in the fastest way there is
//   value(key)   the key's value, to check what the operations read and wrote
//   turns()      how often the space of a bounded store has been used over
//   close()
// and `serve` is given a function that opens one. Any function may return a promise.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

// Names of the operations, the same in every language.
export const PUT = 'put'
export const PUT_100 = 'put, batches of 100'
export const PUT_ALL = 'put, one transaction'
export const GET = 'get'
export const GET_100 = 'get, batches of 100'
export const GET_ALL = 'get, one transaction'
export const GET_WITHOUT_MEMORY = 'get without memory tier'
export const GET_ALL_IN_MEMORY = 'get with all in memory'
export const GET_TENTH_IN_MEMORY = 'get with a tenth in memory'

// What a write survives once it has returned.
export const NONE = 'none'
export const SURVIVES_KILL = 'survives kill -9'

/** The version of one of the packages in node_modules. */
export const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url))).version

// Keys whose values are looked at after the fill.
const SAMPLE = 100

class Session {
  #subject
  #data
  #nextWrite = 0
  #nextRead = 0

  constructor(subject, folder) {
    const lines = (name) =>
      readFileSync(join(folder, `${name}.txt`), 'latin1')
        .trim()
        .split('\n')
    // Parsed out of JSON, so that each is a plain string and not a slice of the whole file.
    const plain = (name) => JSON.parse(JSON.stringify(lines(name)))
    this.#subject = subject
    this.#data = { writes: plain('writes'), reads: plain('reads'), values: plain('values') }
  }

  describe() {
    const { name, bounded, versions, durability, operations } = this.#subject
    return {
      subject: name,
      bounded,
      versions: Object.entries(versions),
      operations: Object.keys(operations).map((name) => ({ name, durability })),
    }
  }

  async fill({ passes }) {
    for (let pass = 0; pass < passes; pass++) {
      await this.#subject.fill(this.#writes(this.#data.writes.length))
    }
    for (const key of this.#reads(SAMPLE)) {
      if (!this.#data.values.includes(await this.#subject.value(key))) {
        throw new Error('a key that was written does not have its value')
      }
    }
    return { turns: (await this.#subject.turns?.()) ?? 0 }
  }

  async run({ operation, count }) {
    const run = this.#subject.operations[operation]
    const batch = operation.startsWith(PUT) ? this.#writes(count) : this.#reads(count)
    const start = performance.now()
    const misses = await run(batch)
    return { seconds: (performance.now() - start) / 1000, misses: misses ?? 0 }
  }

  async close() {
    await this.#subject.close()
    return {}
  }

  #writes(count) {
    const { writes, values } = this.#data
    const first = this.#nextWrite
    this.#nextWrite += count
    return Array.from({ length: count }, (_, n) => [
      writes[(first + n) % writes.length],
      values[(first + n) % values.length],
    ])
  }

  #reads(count) {
    const { reads } = this.#data
    const first = this.#nextRead
    this.#nextRead += count
    return Array.from({ length: count }, (_, n) => reads[(first + n) % reads.length])
  }
}

export async function serve(open) {
  let session
  for await (const line of createInterface({ input: process.stdin })) {
    const { command, ...request } = JSON.parse(line)
    let reply
    try {
      if (command === 'open') {
        session = new Session(await open(request), request.data)
        reply = session.describe()
      } else {
        reply = (await session?.[command](request)) ?? {}
      }
    } catch (error) {
      reply = { error: String(error) }
    }
    process.stdout.write(`${JSON.stringify(reply)}\n`)
    if (command === 'close') break
  }
  process.exit()
}
