/** The cases of spec/conformance; their form is described in the README there. */
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  Cache,
  type CacheEntry,
  type CacheOptions,
  DELETE,
  type IncrementOptions,
  type Key,
  LEAVE,
  type Lease,
  PolycacheError,
  type SetOptions,
} from '../src/index.ts'
import { folder } from './support/caches.ts'
import { withoutMapping } from './support/native-reads.ts'
import { PROGRAMS, RedisServer } from './support/redis-server.ts'
import { filesOf, readSpec } from './support/spec.ts'
import { asHere, fromTagged, inOrder, type Tagged, toTagged } from './support/tagged.ts'

interface Case {
  name: string
  options?: Record<string, unknown>
  requires?: string[]
  steps: Step[]
}

type Step = { op: string } & Record<string, unknown>

// A loader is told that it asks for its own key if it does so before it has awaited anything, as those of the cases do.
const CAPABILITIES = new Set(['atomic', 'dynamic', 'invalid_text', 'limited', 'own_key'])
const MISS = { miss: true }

/** The runner's own error, which getOrSet and update hand on. */
class LoaderFailed extends Error {
  readonly code = 'loader_failed'
}

/** What the cases are run with, and what that lacks. */
interface Setup {
  readonly name: string
  /** Without one there is the memory tier alone. */
  readonly directory: boolean
  readonly options: Partial<CacheOptions>
  readonly mapping: boolean
  /** How the server is given, if there is one. */
  readonly server?: 'url' | 'client'
}

const SETUPS: readonly Setup[] = [
  { name: 'memory and host', directory: true, options: {}, mapping: true },
  { name: 'host', directory: true, options: { memory: false }, mapping: true },
  { name: 'host, by native calls', directory: true, options: {}, mapping: false },
  { name: 'memory', directory: false, options: {}, mapping: true },
  { name: 'server', directory: false, options: {}, mapping: true, server: 'url' },
  {
    name: 'server, read through',
    directory: false,
    options: { maxStaleness: 0 },
    mapping: true,
    server: 'url',
  },
  { name: 'server and host', directory: true, options: {}, mapping: true, server: 'url' },
  {
    name: 'server by a client, and host',
    directory: true,
    options: {},
    mapping: true,
    server: 'client',
  },
]

const [PROGRAM] = PROGRAMS
let server: RedisServer
let client: Redis
/** Each case has keys of its own. */
let prefixes = 0

beforeAll(async () => {
  if (PROGRAM === undefined) return
  server = await RedisServer.start(PROGRAM)
  client = new Redis(server.port, { lazyConnect: true })
})

afterAll(async () => {
  client?.disconnect()
  await server?.stop()
})

for (const setup of SETUPS) {
  describe(setup.name, () => {
    for (const file of filesOf('conformance')) {
      for (const one of readSpec<Case[]>(`conformance/${file}`)) {
        const needed = one.requires ?? []
        const lacks = needed.some(
          (it) =>
            !(CAPABILITIES.has(it) || (it === 'host' && setup.directory)) ||
            // The server holds an entry, whatever its size.
            (it === 'limited' && setup.server !== undefined),
        )
        const run = lacks || (setup.server && PROGRAM === undefined) ? test.skip : test
        run(`${file.replace('.json', '')}: ${one.name}`, async () => {
          if (setup.mapping) await runCase(one, setup)
          else await withoutMapping(() => runCase(one, setup))
        })
      }
    }
  })
}

async function runCase(
  { name, options = {}, requires, steps, ...rest }: Case,
  setup: Setup,
): Promise<void> {
  expect(rest, 'what the README does not describe').toEqual({})
  const run = new Run(setup)
  try {
    run.open('cache', { ...(setup.directory && { limit: '4MiB' }), ...options })
    for (const step of steps) await run.step(step)
  } finally {
    await run.releaseAll()
    for (const handle of run.handles.values()) await handle.close()
  }
}

/** A case under way. */
class Run {
  readonly handles = new Map<string, Cache>()
  readonly #leases = new Map<string, Lease>()
  readonly #versions = new Map<string, bigint>()
  readonly #setup: Setup
  readonly #folder = folder()
  readonly #prefix = `case-${prefixes++}`
  #now = 1_700_000_000_000

  constructor(setup: Setup) {
    this.#setup = setup
  }

  open(name: string, options: Record<string, unknown>, directory = 'main'): void {
    const path = `${this.#folder}/${directory}`
    const clock = () => this.#now
    const { directory: inDirectory, options: ours } = this.#setup
    const remote = this.#setup.server && {
      remote: this.#setup.server === 'url' ? `redis://127.0.0.1:${server.port}` : client,
      // Two directories are two caches.
      prefix: `${this.#prefix}-${directory}`,
      timeout: '20s',
    }
    const tiers = { ...ours, ...remote, ...(inDirectory && { path }) }
    const given = { ...camelCase(options), ...tiers, clock }
    this.handles.set(name, new Cache(given as CacheOptions))
  }

  async step(given: Step): Promise<void> {
    const { op, on = 'cache', error, path, result, ...step } = given
    const operation = this.#operations[op]
    if (operation === undefined) throw new Error(`an unknown operation: ${op}`)
    const handle = this.handles.get(on as string)
    const label = JSON.stringify(given)
    if (error === undefined) {
      const answer = await operation(handle as Cache, new Arguments(step))
      if (result !== undefined) expect(answer, label).toEqual(expected(op, result))
      return
    }
    const failure = await failureOf(async () => operation(handle as Cache, new Arguments(step)))
    expect(failure instanceof PolycacheError || failure instanceof LoaderFailed, label).toBe(true)
    expect((failure as PolycacheError).code, label).toBe(error)
    if (path !== undefined) expect((failure as { path?: string }).path, label).toBe(path)
  }

  readonly #operations: Record<string, (on: Cache, step: Arguments) => unknown> = {
    get: async (on, step) => found(await on.get(step.key())),
    peek: async (on, step) => found(await on.peek(step.key())),
    take: async (on, step) => found(await on.take(step.key())),
    entry: async (on, step) => facts(await on.entry(step.key())),
    set: (on, step) => on.set(step.key(), step.value(), ...step.ttl()),
    delete: (on, step) => on.delete(step.key()),
    has: (on, step) => on.has(step.key()),
    ttl: async (on, step) => {
      const left = await on.ttl(step.key())
      return left === undefined ? MISS : timeLeft(left)
    },
    touch: (on, step) => on.touch(step.key(), ...step.touchTtl()),
    add: (on, step) => on.add(step.key(), step.value(), ...step.ttl()),
    replace: (on, step) => on.replace(step.key(), step.value(), ...step.ttl()),
    version: async (on, step) => {
      const as = step.take('as') as string
      const entry = await on.entry(step.key())
      step.none()
      if (entry === undefined) return MISS
      this.#versions.set(as, entry.version)
    },
    compare_and_set: (on, step) => {
      const version = this.#versions.get(step.take('version') as string) as bigint
      return on.compareAndSet(step.key(), version, step.value(), ...step.ttl())
    },
    increment: async (on, step) =>
      toTagged(await on.increment(step.key(), ...(step.addend() as [number]))),
    decrement: async (on, step) =>
      toTagged(await on.decrement(step.key(), ...(step.addend() as [number]))),
    update: (on, step) => this.#update(on, step),
    get_many: async (on, step) => pairs(await on.getMany(step.keys())),
    set_many: (on, step) => on.setMany(step.entries(), ...step.ttl()),
    delete_many: (on, step) => on.deleteMany(step.keys()),
    delete_prefix: (on, step) => on.deletePrefix(...(step.prefix() as [Key])),
    get_or_set: (on, step) => this.#getOrSet(on, step),
    get_or_set_many: (on, step) => this.#getOrSetMany(on, step),
    lease: (on, step) => {
      const as = step.take('as') as string
      this.#leases.set(as, on.lease(step.key()))
    },
    acquire: (_, step) => this.#lease(step).acquire(...step.wait()),
    release: (_, step) => this.#lease(step).release(),
    locked: (_, step) => this.#lease(step).locked(),
    keys: async (on, step) => {
      const keys: Tagged[] = []
      for await (const key of on.keys(...step.prefix())) keys.push(toTagged(key))
      return inOrder(keys)
    },
    clear: (on, step) => on.clear(...step.none()),
    flush: (on, step) => on.flush(...step.none()),
    close: (on, step) => on.close(...step.none()),
    stats: async (on, step) => {
      const [field] = Object.keys(camelCase({ [step.take('field') as string]: 0 }))
      const stats = await on.stats()
      // Those of the copies on this host.
      if (this.#setup.server && (field === 'entries' || field === 'limit')) return expect.anything()
      return stats[field as 'hits']
    },
    check: async (on, step) => (await on.check(...step.none())).damaged.length,
    namespace: (on, step) => {
      this.handles.set(step.take('as') as string, on.namespace(step.take('part') as string))
    },
    open: (_, step) => {
      const as = step.take('as') as string
      this.open(
        as,
        step.take('options') as Record<string, unknown>,
        step.maybe('directory') as string,
      )
    },
    advance: (_, step) => {
      this.#now += step.take('ms') as number
    },
  }

  #lease(step: Arguments): Lease {
    return this.#leases.get(step.take('lease') as string) as Lease
  }

  async releaseAll(): Promise<void> {
    for (const lease of this.#leases.values()) await lease.release()
  }

  async #getOrSet(on: Cache, step: Arguments): Promise<Tagged> {
    const key = step.key()
    const during = (step.maybe('during') ?? []) as Step[]
    const loads = step.has('loads')
    const result = step.maybe('loads') as Tagged
    let runs = 0
    const loader = async () => {
      runs++
      for (const inner of during) await this.step(inner)
      if (result !== null && typeof result === 'object' && 'error' in result)
        throw new LoaderFailed()
      return fromTagged(result)
    }
    try {
      return toTagged(await on.getOrSet(key, loader, ...step.ttl()))
    } finally {
      expect(runs).toBe(loads ? 1 : 0)
    }
  }

  async #update(on: Cache, step: Arguments): Promise<unknown> {
    const key = step.key()
    const during = (step.maybe('during') ?? []) as Step[]
    const sees = step.maybe('sees') as Tagged[] | undefined
    const returns = step.take('returns') as Tagged
    const seen: unknown[] = []
    const work = async (value: unknown) => {
      seen.push(found(value))
      for (const inner of during) await this.step(inner)
      if (returns === null || typeof returns !== 'object') return returns
      if ('error' in returns) throw new LoaderFailed()
      if ('delete' in returns) return DELETE
      return 'leave' in returns ? LEAVE : fromTagged(returns)
    }
    try {
      return found(await on.update(key, work, ...step.ttl()))
    } finally {
      if (sees !== undefined) expect(seen).toEqual(sees.map(hereOrMiss))
    }
  }

  async #getOrSetMany(on: Cache, step: Arguments): Promise<unknown> {
    const given = step.take('keys') as Tagged[] | Tagged
    const during = (step.maybe('during') ?? []) as Step[]
    const asked = step.maybe('asked') as Tagged[] | undefined
    const loaded = step.maybe('loads') as [Tagged, Tagged][] | { error: true } | undefined
    const calls: unknown[] = []
    const loader = async (keys: Key[]) => {
      calls.push(inOrder(keys.map(textOf)))
      for (const inner of during) await this.step(inner)
      if (!Array.isArray(loaded)) throw new LoaderFailed()
      return new Map(loaded.map(([key, value]) => [fromTagged(key) as Key, fromTagged(value)]))
    }
    // A single key, where a list is wanted.
    const keys = Array.isArray(given) ? given.map(fromTagged) : fromTagged(given)
    try {
      return pairs(await on.getOrSetMany(keys as Key[], loader, ...step.ttl()))
    } finally {
      expect(calls).toEqual(asked === undefined ? [] : [inOrder(asked)])
    }
  }
}

/** What a step gives; another thing that it gives is a mistake in the case. */
class Arguments {
  readonly #left: Map<string, unknown>

  constructor(step: Record<string, unknown>) {
    this.#left = new Map(Object.entries(step))
  }

  has(name: string): boolean {
    return this.#left.has(name)
  }

  maybe(name: string): unknown {
    const value = this.#left.get(name)
    this.#left.delete(name)
    return value
  }

  take(name: string): unknown {
    expect(this.has(name), name).toBe(true)
    return this.maybe(name)
  }

  key(): Key {
    return fromTagged(this.take('key') as Tagged) as Key
  }

  value(): unknown {
    return fromTagged(this.take('value') as Tagged)
  }

  keys(): Key[] {
    const given = this.take('keys') as Tagged[] | Tagged
    this.none()
    // A single key, where a list is wanted.
    if (!Array.isArray(given)) return fromTagged(given) as Key[]
    return given.map((key) => fromTagged(key) as Key)
  }

  entries(): [Key, unknown][] {
    const entries = this.take('entries') as [Tagged, Tagged][]
    return entries.map(([key, value]) => [fromTagged(key) as Key, fromTagged(value)])
  }

  prefix(): [Key] | [] {
    const prefix: [Key] | [] = this.has('prefix')
      ? [fromTagged(this.take('prefix') as Tagged) as Key]
      : []
    this.none()
    return prefix
  }

  ttl(): [SetOptions] | [] {
    const options: { ttl?: string; expiresAt?: Date } = {}
    if (this.has('ttl')) options.ttl = duration(this.take('ttl'))
    if (this.has('expires_at')) options.expiresAt = new Date(this.take('expires_at') as number)
    this.none()
    return Object.keys(options).length === 0 ? [] : [options]
  }

  touchTtl(): Parameters<Cache['touch']> extends [unknown, ...infer Ttl] ? Ttl : never {
    const [options] = this.ttl()
    if (options === undefined) return []
    return [options.expiresAt === undefined ? options.ttl : options]
  }

  addend(): [by: number | undefined, options?: IncrementOptions] {
    const value = (name: string) => fromTagged(this.take(name) as Tagged) as number
    const by = this.has('by') ? value('by') : undefined
    const options: { initial?: number } = this.has('initial') ? { initial: value('initial') } : {}
    return [by, { ...options, ...this.ttl()[0] }]
  }

  wait(): [boolean | string] | [] {
    const wait = this.maybe('wait')
    this.none()
    if (wait === undefined) return []
    return [typeof wait === 'boolean' ? wait : duration(wait)]
  }

  none(): [] {
    expect([...this.#left.keys()], 'what the README does not describe').toEqual([])
    return []
  }
}

function camelCase(options: Record<string, unknown>): Record<string, unknown> {
  const named = Object.entries(options).map(([name, value]) => [
    name.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    name === 'ttl' || name === 'time_to_idle' || name.endsWith('_timeout')
      ? duration(value)
      : name === 'encryption' || name === 'dictionaries'
        ? encryption(value)
        : value,
  ])
  return Object.fromEntries(named)
}

/** A duration as a case writes it; of its numbers some are text, for JSON has no NaN. */
function duration(given: unknown): string {
  if (typeof given !== 'object' || given === null) return given as string
  const { ms } = given as { ms: unknown }
  return { ms: typeof ms === 'string' ? fromTagged({ float: ms }) : ms } as unknown as string
}

/** Keys and dictionaries as a case writes them: the bytes in them are tagged. */
function encryption(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given
  if (Array.isArray(given)) return given.map(encryption)
  if (Object.keys(given).join() === 'bytes') return fromTagged(given as Tagged)
  return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, encryption(one)]))
}

function expected(op: string, result: unknown): unknown {
  switch (op) {
    case 'get':
    case 'peek':
    case 'take':
    case 'update':
      return hereOrMiss(result as Tagged)
    case 'get_or_set':
    case 'increment':
    case 'decrement':
      return asHere(result as Tagged)
    case 'get_many':
    case 'get_or_set_many':
      return inOrder((result as [Tagged, Tagged][]).map((pair) => pair.map(asHere)))
    case 'keys':
      return inOrder((result as Tagged[]).map(asHere))
    default:
      return result
  }
}

function hereOrMiss(result: Tagged): unknown {
  return JSON.stringify(result) === JSON.stringify(MISS) ? MISS : asHere(result)
}

function found(value: unknown): unknown {
  return value === undefined ? MISS : toTagged(value)
}

/** An entry as a case has it. */
function facts(entry: CacheEntry | undefined): unknown {
  if (entry === undefined) return MISS
  // Versions differ from run to run.
  const { value, ttl, expires = null, version: _, ...rest } = entry
  return { value: toTagged(value), ttl: timeLeft(ttl), expires, ...rest }
}

function timeLeft(ms: number): number | string {
  return ms === Number.POSITIVE_INFINITY ? 'forever' : ms
}

function pairs(values: Map<Key, unknown>): unknown {
  return inOrder([...values].map(([key, value]) => [textOf(key), toTagged(value)]))
}

/** getMany answers with the keys as they were given; text and its bytes are one key. */
function textOf(key: Key): Tagged {
  if (typeof key === 'string') return key
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(key)
  } catch {
    return toTagged(key)
  }
}

async function failureOf(run: () => Promise<unknown>): Promise<unknown> {
  try {
    await run()
  } catch (failure) {
    return failure
  }
  return undefined
}
