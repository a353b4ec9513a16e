// How a server tells the controller that it listens.

import { readFileSync } from 'node:fs'

export const HOST = '127.0.0.1'

/** How often a server reads the stream from Redis; the controller counts. */
export const READS = {
  EACH: 'each request',
  SECOND: 'once a second',
  CHANGE: 'after a change',
  NEVER: 'never',
}

const PACKAGES = new URL('../node_modules/', import.meta.url)

/** The versions of the packages in a node_modules folder. */
export const versionsOf = (names, folder = PACKAGES) =>
  Object.fromEntries(
    names.map((name) => [
      name,
      JSON.parse(readFileSync(new URL(`${name}/package.json`, folder))).version,
    ]),
  )

/**
 * `port`: where it listens. `path`: the route that is measured. `reads`: one of READS. `packages`: those
 * it is made of, for the machine's line. `notes`: what its rows have to say.
 */
export function ready({ port, path = '/', reads, packages, versions, notes = [] }) {
  const runtime = process.versions.bun ? { bun: process.versions.bun } : {}
  const all = { ...runtime, ...(versions ?? versionsOf(packages)) }
  console.log(JSON.stringify({ port, path, reads, versions: all, notes }))
}
