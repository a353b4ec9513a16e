/** The TypeScript worker of `make check-coherence`, `make torture` and `make check-remote`; see ../README.md. */

import { existsSync, openSync, writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { Cache } from '../../typescript/src/index.ts'
import { reached } from './reached.ts'

const READ = 1
const SET = 2
const SET_DONE = 3
const DELETE = 4
const DELETE_DONE = 5
const LOAD = 6
const LOAD_DONE = 7
const FOREIGN = 8
const FINISHED = 9
const CLEAR = 11
const CLEAR_DONE = 12
const MALFORMED = 13

/** The namespaces that the keys are spread over, in the order of src/namespaces.rs. */
const NAMESPACES = [[], ['a'], ['a', 'b'], ['c']]

const RECORD = 32

/** Of 100 operations: where sets begin after gets, then deletes, then loads. */
const OF_A_HOST = [70, 90, 95] as const
/** A write is a round trip, and makes a read of each host one. */
const OF_A_SERVER = [85, 95, 97] as const

/** Over a server, so many keys are in the middle of things. */
const HOT = 16
/** As many others get so many of 100 operations, nine of ten of them reads; and all together so many. */
const WARM = 12
const COLD = 3
/** And so many are written by both hosts. */
const SHARED = 8

/** Milliseconds after a write that the server did not answer. */
const BREATH = 5

const now = process.hrtime.bigint

/** The writer of a value: the worker and its count of values. 0 and 0 is none. */
type Serial = { readonly worker: number; readonly counter: number }

const NONE: Serial = { worker: 0, counter: 0 }

class Log {
  readonly #file: number
  readonly #reads = Buffer.alloc(128 * RECORD)
  readonly #write = Buffer.alloc(RECORD)
  #length = 0

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  buffered(op: number, key: number, serial: Serial, begin: bigint, end: bigint): void {
    encode(this.#reads, this.#length, op, key, serial, begin, end)
    this.#length += RECORD
    if (this.#length === this.#reads.length) this.flush()
  }

  now(op: number, key: number, serial: Serial, begin: bigint, end: bigint): void {
    encode(this.#write, 0, op, key, serial, begin, end)
    writeSync(this.#file, this.#write)
  }

  flush(): void {
    writeSync(this.#file, this.#reads, 0, this.#length)
    this.#length = 0
  }
}

function encode(
  out: Buffer,
  at: number,
  op: number,
  key: number,
  serial: Serial,
  begin: bigint,
  end: bigint,
): void {
  out.writeBigUInt64LE(begin, at)
  out.writeBigUInt64LE(end, at + 8)
  out.writeUInt32LE(serial.counter, at + 16)
  out.writeUInt32LE(serial.worker, at + 20)
  out.writeUInt8(op, at + 24)
  out.writeUInt8(key, at + 25)
}

function makeValue(key: string, { worker, counter }: Serial): string {
  const name = `${worker}.${counter}`
  return `${key}:${name}:${name.repeat((Math.imul(counter, 389) >>> 0) % 1000)}`
}

/** The writer of this value of the key, if it is whole; undefined for anything else. */
function parse(key: string, found: unknown): Serial | undefined {
  if (typeof found !== 'string') return undefined
  const [worker, counter] = (found.split(':', 2)[1] ?? '').split('.').map(Number)
  const serial = { worker: worker ?? 0, counter: counter ?? 0 }
  return found === makeValue(key, serial) ? serial : undefined
}

/** xorshift32: numbers below a bound, the same for the same seed. */
function randomFrom(seed: number): (bound: number) => number {
  let state = seed >>> 0 || 1
  return (bound) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
}

/** A cache, or one of a package that has no remote tier. */
type WithStats = {
  remoteStats?(): { nearHits: number; remoteHits: number } | undefined
  stats(): Promise<{ memoryHits?: number }>
}

class Worker {
  readonly #namespaces: Cache[]
  readonly #log: Log
  readonly #number: number
  readonly #names: string[]
  readonly #random: (bound: number) => number
  readonly #operationsAClear: number
  readonly #remote: boolean
  #counter = 0

  constructor(
    cache: Cache,
    log: Log,
    number: number,
    keys: number,
    seed: number,
    operationsAClear: number,
    remote: boolean,
  ) {
    this.#namespaces = NAMESPACES.map((parts) =>
      parts.reduce((outer, part) => outer.namespace(part), cache),
    )
    this.#log = log
    this.#number = number
    this.#names = Array.from({ length: keys }, (_, key) => `hot-${key}`)
    this.#random = randomFrom(seed)
    this.#operationsAClear = operationsAClear
    this.#remote = remote
  }

  /**
   * Over a server a read counts that has found a value, and work goes on while the file `goOn` is there, with
   * a pause of `pace` microseconds, at least a millisecond, after each operation.
   */
  async work(reads: number, goOn = '', pace = 0): Promise<void> {
    let goesOn = true
    for (let left = reads, operations = 0; left > 0 || goesOn; operations++) {
      if (operations % 256 === 0) goesOn = existsSync(goOn)
      if (pace > 0) await setTimeout(pace / 1000)
      if (await this.#operate()) left--
    }
    this.#log.flush()
    const cache = this.#cache(0) as object as WithStats
    const { nearHits = 0, remoteHits = 0 } = cache.remoteStats?.() ?? {}
    const { memoryHits = 0 } = await cache.stats()
    const answered = { worker: 0, counter: remoteHits }
    this.#log.now(FINISHED, 0, answered, now(), BigInt(nearHits + memoryHits))
  }

  /** Whether it was a read that counts. */
  async #operate(): Promise<boolean> {
    if (this.#random(this.#operationsAClear) === 0) {
      await this.#clear(this.#random(NAMESPACES.length))
    }
    const key = this.#choose()
    const [sets, deletes, loads] = this.#remote ? OF_A_SERVER : OF_A_HOST
    const isWarm = this.#remote && key >= HOT && key < 2 * HOT
    const dice = isWarm && this.#random(10) > 0 ? 0 : this.#random(100)
    if (dice < sets || this.#onlyReads(key)) return (await this.#get(key)) || !this.#remote
    if (dice < deletes) await this.#set(key)
    else if (dice < loads) await this.#delete(key)
    else return (await this.#getOrSet(key)) || !this.#remote
    return false
  }

  #choose(): number {
    const part = this.#random(100)
    if (!this.#remote || part < COLD) return this.#random(this.#names.length)
    return this.#random(HOT) + (part < COLD + WARM ? HOT : 0)
  }

  /** Most keys are written by one host alone: what a host writes itself is never old there. */
  #onlyReads(key: number): boolean {
    return this.#remote && key >= SHARED && Math.floor(key / 4) % 2 !== this.#number % 2
  }

  /** Whether a value was found. */
  async #get(key: number): Promise<boolean> {
    const begin = now()
    const [cache, name] = [this.#cache(key), this.#name(key)]
    let found: unknown
    try {
      found = this.#remote ? await cache.get(name) : cache.getSync(name)
    } catch (error) {
      return this.#failed(key, error, begin, now())
    }
    return this.#read(key, found, begin, now())
  }

  #read(key: number, found: unknown, begin: bigint, end: bigint): boolean {
    const serial = found === undefined ? NONE : parse(this.#name(key), found)
    if (serial === undefined) this.#foreign(key, found, begin, end)
    else this.#log.buffered(READ, key, serial, begin, end)
    return serial !== undefined && serial !== NONE
  }

  async #set(key: number): Promise<void> {
    const serial = this.#make()
    const [cache, name] = [this.#cache(key), this.#name(key)]
    const value = makeValue(name, serial)
    const begin = now()
    this.#log.now(SET, key, serial, begin, 0n)
    const done = await this.#answered(
      () => cache.set(name, value),
      () => cache.setSync(name, value),
    )
    if (done) this.#log.now(SET_DONE, key, serial, begin, now())
  }

  async #delete(key: number): Promise<void> {
    const [cache, name] = [this.#cache(key), this.#name(key)]
    const begin = now()
    this.#log.now(DELETE, key, NONE, begin, 0n)
    const done = await this.#answered(
      () => cache.delete(name),
      () => cache.deleteSync(name),
    )
    if (done) this.#log.now(DELETE_DONE, key, NONE, begin, now())
  }

  async #clear(namespace: number): Promise<void> {
    const cache = this.#namespaces[namespace] as Cache
    const begin = now()
    this.#log.now(CLEAR, namespace, NONE, begin, 0n)
    const done = await this.#answered(
      () => cache.clear(),
      () => cache.clearSync(),
    )
    if (done) this.#log.now(CLEAR_DONE, namespace, NONE, begin, now())
  }

  /** Whether a write was acknowledged. Over a server, one that failed may happen later, or not. */
  async #answered(remote: () => Promise<unknown>, here: () => unknown): Promise<boolean> {
    if (!this.#remote) {
      here()
      return true
    }
    try {
      await remote()
      return true
    } catch (error) {
      if (codeOf(error) !== 'remote_unavailable') throw error
      await setTimeout(BREATH)
      return false
    }
  }

  #cache(key: number): Cache {
    return this.#namespaces[key % NAMESPACES.length] as Cache
  }

  /**
   * The loader takes up to 30 microseconds, so that others set and delete meanwhile. Whether a value was
   * there.
   */
  async #getOrSet(key: number): Promise<boolean> {
    const serial = this.#make()
    const value = makeValue(this.#name(key), serial)
    const pause = BigInt(this.#random(30_000))
    let loaded = 0n
    const load = () => {
      loaded = now()
      this.#log.now(LOAD, key, serial, loaded, 0n)
      this.#log.buffered(READ, key, NONE, begin, loaded)
      while (now() < loaded + pause);
      return value
    }
    const begin = now()
    let found: unknown
    try {
      found = await this.#cache(key).getOrSet(this.#name(key), load)
    } catch (error) {
      if (loaded > 0n) throw error
      return this.#failed(key, error, begin, now())
    }
    if (loaded === 0n) return this.#read(key, found, begin, now())
    this.#log.now(LOAD_DONE, key, serial, loaded, now())
    return false
  }

  #make(): Serial {
    this.#counter++
    return { worker: this.#number, counter: this.#counter }
  }

  #name(key: number): string {
    return this.#names[key] as string
  }

  #failed(key: number, error: unknown, begin: bigint, end: bigint): boolean {
    if (this.#remote && codeOf(error) === 'malformed_entry') {
      this.#log.buffered(MALFORMED, key, NONE, begin, end)
    } else {
      this.#foreign(key, error, begin, end)
    }
    return false
  }

  #foreign(key: number, found: unknown, begin: bigint, end: bigint): void {
    const shown = String(found).slice(0, 400)
    console.log(`${this.#name(key)} gave, by a read begun at ${begin}: ${shown}`)
    this.#log.now(FOREIGN, key, NONE, begin, end)
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

const [path = '', log = '', ...words] = process.argv.slice(2)
const [number = 0, seed = 0, reads = 0, keys = 0, ms = 0, operationsAClear = 0] = words
  .slice(0, 6)
  .map(Number)
const [remote, timeout, staleness, goOn, pace] = words.slice(6)
const server = remote !== undefined && {
  remote: reached(remote),
  timeout: { ms: Number(timeout) },
  maxStaleness: { ms: Number(staleness) },
}
const cache = new Cache({ path, leaseTimeout: { ms }, ...server })
const isRemote = remote !== undefined
const worker = new Worker(cache, new Log(log), number, keys, seed, operationsAClear, isRemote)
await worker.work(reads, goOn, Number(pace ?? 0))
