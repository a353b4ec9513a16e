/**
 * The TypeScript part of the matrix of `make check-remote`: does what each line says, and answers by a line.
 * See ../src/remote/matrix.rs.
 */

import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Cache } from '../../typescript/src/index.ts'
import { reached } from './reached.ts'

/** One of each kind that all languages have. */
const VALUES: Record<string, unknown> = {
  text: 'grüße',
  bytes: Uint8Array.of(0, 255, 65),
  negative: -7,
  large: 2 ** 40 + 1,
  float: 1.5,
  true: true,
  null: null,
  list: [1, 'two', null],
  map: { a: 1, b: [2.5] },
  set: new Set([7]),
  time: new Date(Date.UTC(2026, 0, 2, 3, 4, 5)),
}

const [path = '', remote = '', me = ''] = process.argv.slice(2)
const cache = new Cache({ path, remote: reached(remote), timeout: '10s' })

async function write(): Promise<string> {
  for (const [name, value] of Object.entries(VALUES)) await cache.set(`${me}-${name}`, value)
  await cache.set(`${me}-lives`, 'x', { ttl: '1000s' })
  await cache.set(`${me}-ends`, 'x', { ttl: '1s' })
  return 'ok'
}

async function read(who: string): Promise<string> {
  for (const [name, value] of Object.entries(VALUES)) {
    const found = await cache.get(`${who}-${name}`)
    // A Buffer is bytes, too.
    const same = found instanceof Uint8Array ? Uint8Array.from(found) : found
    if (!isDeepStrictEqual(same, value)) return `${who}-${name} is ${String(found)}`
  }
  const left = (await cache.ttl(`${who}-lives`)) ?? 0
  return left >= 990_000 && left <= 1_000_000 ? 'ok' : `${who}-lives has ${left} left`
}

async function gone(who: string): Promise<string> {
  return (await cache.has(`${who}-ends`)) ? `${who}-ends has not ended` : 'ok'
}

async function load(key: string, at: bigint): Promise<string> {
  let ran = 'found'
  await setTimeout(Math.max(0, Number(at - process.hrtime.bigint()) / 1e6))
  const value = await cache.getOrSet(key, async () => {
    ran = 'loaded'
    await setTimeout(100)
    return `${me}-${process.pid}`
  })
  return `${ran} ${value}`
}

async function answer([what, first = '', second = '']: string[]): Promise<string> {
  try {
    if (what === 'write') return await write()
    if (what === 'load') return await load(first, BigInt(second))
    return await (what === 'read' ? read(first) : gone(first))
  } catch (error) {
    return `bad: ${String(error)}`
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(await answer(line.split(' ')))
}
process.exit()
