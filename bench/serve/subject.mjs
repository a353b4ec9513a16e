// What every JavaScript subject of a benchmark shares, on Node, Bun and whatever else runs it: it
// answers the controller's lines of JSON (bench/README.md, "A subject").
//
// `serve` is given a function that opens a subject from the request's options and returns
//   name         what rows call it; ours begin with `polycache`
//   versions     names and versions of what is measured
//   notes        said in each row: isolation, durability and the like
//   operations   by name: a function of the round's seconds that returns the time of one operation in ns,
//                or { unit, run } where it is something else
//   check()      throws unless what it reads is what it wrote; runs before anything is timed
//   close()
// Any function may return a promise.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** The version of a package in the node_modules beside the benchmark's package.json. */
export const versionOf = (name, folder) =>
  JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, folder))).version

/** What the subject lacks by design: its row says why, and is not a failure. */
export class NotOffered extends Error {
  name = 'NotOffered'
}

/** Throws unless the two are the same JSON. */
export const same = (found, expected, what) => {
  const [is, should] = [found, expected].map((value) => JSON.stringify(value))
  if (is !== should) throw new Error(`${what}: ${is} is not ${should}`)
}

class Answers {
  #subject

  constructor(subject) {
    this.#subject = subject
  }

  describe() {
    const { name, versions = {}, notes = [], operations } = this.#subject
    const units = Object.entries(operations).map(([name, { unit = '' }]) => [name, unit])
    return { subject: name, versions, notes, operations: Object.fromEntries(units) }
  }

  async check() {
    await this.#subject.check()
  }

  async run({ operation, seconds }) {
    const found = this.#subject.operations[operation]
    return { value: await (found.run ?? found)(seconds) }
  }

  async close() {
    await this.#subject.close?.()
  }
}

export async function serve(open) {
  let answers
  for await (const line of createInterface({ input: process.stdin })) {
    const { command, ...request } = JSON.parse(line)
    let reply
    try {
      if (command === 'open') {
        answers = new Answers(await open(request))
        reply = answers.describe()
      } else {
        reply = (await answers?.[command](request)) ?? {}
      }
    } catch (error) {
      reply = { error: String(error) }
    }
    process.stdout.write(`${JSON.stringify(reply)}\n`)
    if (command === 'close') break
  }
  process.exit()
}
