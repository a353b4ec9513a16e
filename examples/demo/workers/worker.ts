/**
 * The TypeScript worker of the demo: see README.md in the folder above for what it is asked.
 *
 * worker.ts CACHE_DIRECTORY LIMIT NAME [SERVER], in the folder that holds the records
 */
import { createHash } from 'node:crypto'
import { openSync, readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { inspect, isDeepStrictEqual } from 'node:util'
import { Cache, Decimal, Uuid } from '../../../typescript/src/index.ts'

/** A value of each type, in this language's own types. Each worker has the same list. */
const SAMPLES: Record<string, unknown> = {
  null: null,
  bool: true,
  integer: -42,
  '64 bits': 18446744073709551615n,
  'big integer': 2n ** 100n,
  float: 0.1,
  text: 'Zoë 🦊',
  bytes: Uint8Array.of(0x00, 0xff, 0xc1),
  list: [1, 'two', [null, false]],
  map: { constructor: 1, nested: { '': 'empty key' } },
  set: new Set([1, 2, 3]),
  timestamp: new Date('2026-02-03T04:05:06.789Z'),
  decimal: new Decimal('-1234.5678'),
  uuid: new Uuid('018bcfe5-6800-7abc-8def-0123456789ab'),
}

type Fields = Map<string, string>

interface Package {
  name: string
  summary: string
  description: string
  needs: string[]
  size: number
  sha256: string
  fields: Record<string, string>
}

/** What a package is and all that it needs, directly or not: there is no index of the raw file. */
function load(name: string): Package {
  const database = readFileSync('records.txt')
  const found = new Map<string, string | undefined>()
  const find = (other: string): string | undefined => {
    if (!found.has(other)) {
      const start = database.indexOf(`\nPackage: ${other}\n`) + 1
      const record = database.subarray(start, database.indexOf('\n\n', start))
      found.set(other, start > 0 ? record.toString() : undefined)
    }
    return found.get(other)
  }

  const needs = [name]
  let size = 0
  const digest = createHash('sha256')
  // It grows while it is walked.
  for (const needed of needs) {
    const record = find(needed) ?? ''
    digest.update(record)
    const fields = parse(record)
    size += 1024 * Number(fields.get('Installed-Size') ?? 0)
    for (const choices of dependencies(fields)) {
      const first = choices.find((choice) => find(choice) !== undefined)
      if (first !== undefined && !needs.includes(first)) needs.push(first)
    }
  }
  const fields = parse(find(name) ?? '')
  const [summary, ...description] = (fields.get('Description') ?? '').split('\n')
  fields.delete('Description')
  return {
    name,
    summary,
    description: description.join('\n'),
    needs,
    size,
    sha256: digest.digest('hex'),
    fields: Object.fromEntries(fields),
  }
}

function parse(record: string): Fields {
  const fields: Fields = new Map()
  let name = ''
  for (const line of record.split('\n')) {
    if (line.startsWith(' ')) {
      fields.set(name, `${fields.get(name)}\n${line.slice(1)}`)
    } else if (line !== '') {
      const colon = line.indexOf(':')
      name = line.slice(0, colon)
      fields.set(name, line.slice(colon + 1).replace(/^ +| +$/g, ''))
    }
  }
  return fields
}

/** `a (>= 1), b:any | c` is a, and b or c. */
function dependencies(fields: Fields): string[][] {
  const wanted = `${fields.get('Pre-Depends') ?? ''},${fields.get('Depends') ?? ''}`
  return wanted
    .split(',')
    .map((part) => part.split('|').map((choice) => choice.trim().split(/[ :]/, 1)[0]))
}

function spread(keys: string[], most: number): string[] {
  const step = Math.max(1, Math.floor(keys.length / most))
  return keys.filter((_, at) => at % step === 0).slice(0, most)
}

const [path, limit, me, remote] = process.argv.slice(2)
const keys: string[] = JSON.parse(readFileSync(`${me}.keys.json`, 'utf8'))
const log = openSync('loads.log', 'a')
// The same code on several hosts. A machine that is busy with the demo is no fault.
const server = remote === undefined ? {} : { remote, timeout: '5s' }
const cache = new Cache({ path, namespace: 'demo', limit: Number(limit), ...server })
const packages = cache.namespace('packages')
const matrix = cache.namespace('matrix')
const changes = cache.namespace('changes')

function note(event: string, key: string): void {
  writeSync(log, `${event} typescript ${process.pid} ${key}\n`)
}

/** Asks for every record, and loads those that are not loaded yet. */
async function ask(): Promise<object> {
  let loaded = 0
  const waits = [0]
  for (const [asked, key] of keys.entries()) {
    if (asked % 8 === 0) say({ asked })
    const before = loaded
    const started = performance.now()
    const found = await packages.getOrSet(key, () => {
      loaded++
      note('begin', key)
      const value = load(key)
      note('end', key)
      return value
    })
    if (found.name !== key) throw new Error(`asked for ${key}, got ${found.name}`)
    // A hit takes microseconds; the shortest sleep of a waiting caller is 0.1 ms.
    const waited = performance.now() - started
    if (loaded === before && waited >= 0.1) waits.push(waited)
  }
  return { loaded, waited: waits.length - 1, longest_wait_ms: Math.max(...waits) }
}

async function write(): Promise<object> {
  for (const [name, value] of Object.entries(SAMPLES)) await matrix.set(`${me}:${name}`, value)
  return { written: Object.keys(SAMPLES) }
}

async function read(writer: string): Promise<object> {
  const equal: string[] = []
  const different: string[] = []
  for (const [name, sample] of Object.entries(SAMPLES)) {
    const value = await matrix.get(`${writer}:${name}`)
    if (isDeepStrictEqual(value, sample)) equal.push(name)
    else different.push(`${name}: ${inspect(value)}`)
  }
  return { equal, different }
}

/** Nanoseconds per hit over all records and per load over some; do both agree? */
function measure(): object {
  const passes: number[] = []
  for (let pass = 0; pass < 21; pass++) {
    passes.push(nanosecondsEach(keys, (key) => packages.getSync(key)))
  }
  const some = spread(keys, 100)
  const loaded: Package[] = []
  const load_ns = nanosecondsEach(some, (key) => loaded.push(load(key)))
  const different = loaded
    .filter((value) => !isDeepStrictEqual(packages.getSync(value.name), value))
    .map(({ name }) => name)
  const hit_ns = passes.sort((one, other) => one - other)[passes.length >> 1]
  return { hit_ns, load_ns, same: some.length - different.length, different }
}

function nanosecondsEach(all: string[], action: (key: string) => unknown): number {
  const started = performance.now()
  for (const key of all) action(key)
  return ((performance.now() - started) * 1e6) / all.length
}

function say(answer: object): void {
  writeSync(1, `${JSON.stringify(answer)}\n`)
}

const commands: Record<string, (argument: string) => object | Promise<object>> = {
  ask,
  write,
  read,
  measure,
  set: async (value) => {
    await changes.set('last writer', value)
    return {}
  },
  get: async () => ({ value: (await changes.get('last writer')) ?? null }),
  tiers: async () => {
    const { memoryHits = 0 } = await cache.stats()
    const { nearHits = 0, remoteHits: remote_hits, listens } = cache.remoteStats() ?? {}
    return { hits_here: memoryHits + nearHits, remote_hits, listens }
  },
}

say({ ready: true })
for await (const line of createInterface({ input: process.stdin })) {
  const [command, argument] = line.split(' ')
  say(await commands[command](argument))
}
await cache.close()
