/** The TypeScript worker of `make check-coherence` and `make torture`; see ../README.md. */

import { openSync, writeSync } from 'node:fs'
import { Cache } from '../../typescript/src/index.ts'

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

/** The namespaces that the keys are spread over, in the order of src/namespaces.rs. */
const NAMESPACES = [[], ['a'], ['a', 'b'], ['c']]

const RECORD = 32

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

class Worker {
  readonly #namespaces: Cache[]
  readonly #log: Log
  readonly #number: number
  readonly #names: string[]
  readonly #random: (bound: number) => number
  readonly #operationsAClear: number
  #counter = 0

  constructor(
    cache: Cache,
    log: Log,
    number: number,
    keys: number,
    seed: number,
    operationsAClear: number,
  ) {
    this.#namespaces = NAMESPACES.map((parts) =>
      parts.reduce((outer, part) => outer.namespace(part), cache),
    )
    this.#log = log
    this.#number = number
    this.#names = Array.from({ length: keys }, (_, key) => `hot-${key}`)
    this.#random = randomFrom(seed)
    this.#operationsAClear = operationsAClear
  }

  async work(reads: number): Promise<void> {
    for (let left = reads; left > 0; ) {
      if (this.#random(this.#operationsAClear) === 0) this.#clear(this.#random(NAMESPACES.length))
      const key = this.#random(this.#names.length)
      const dice = this.#random(100)
      if (dice < 70) {
        this.#get(key)
        left--
      } else if (dice < 90) {
        this.#set(key)
      } else if (dice < 95) {
        this.#delete(key)
      } else {
        await this.#getOrSet(key)
        left--
      }
    }
    this.#log.flush()
    this.#log.now(FINISHED, 0, NONE, now(), 0n)
  }

  #get(key: number): void {
    const begin = now()
    let found: unknown
    try {
      found = this.#cache(key).getSync(this.#name(key))
    } catch (error) {
      this.#foreign(key, error, begin, now())
      return
    }
    this.#read(key, found, begin, now())
  }

  #read(key: number, found: unknown, begin: bigint, end: bigint): void {
    const serial = found === undefined ? NONE : parse(this.#name(key), found)
    if (serial === undefined) this.#foreign(key, found, begin, end)
    else this.#log.buffered(READ, key, serial, begin, end)
  }

  #set(key: number): void {
    const serial = this.#make()
    const value = makeValue(this.#name(key), serial)
    const begin = now()
    this.#log.now(SET, key, serial, begin, 0n)
    this.#cache(key).setSync(this.#name(key), value)
    this.#log.now(SET_DONE, key, serial, begin, now())
  }

  #delete(key: number): void {
    const begin = now()
    this.#log.now(DELETE, key, NONE, begin, 0n)
    this.#cache(key).deleteSync(this.#name(key))
    this.#log.now(DELETE_DONE, key, NONE, begin, now())
  }

  #clear(namespace: number): void {
    const begin = now()
    this.#log.now(CLEAR, namespace, NONE, begin, 0n)
    this.#namespaces[namespace]?.clearSync()
    this.#log.now(CLEAR_DONE, namespace, NONE, begin, now())
  }

  #cache(key: number): Cache {
    return this.#namespaces[key % NAMESPACES.length] as Cache
  }

  /** The loader takes up to 30 microseconds, so that others set and delete meanwhile. */
  async #getOrSet(key: number): Promise<void> {
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
      this.#foreign(key, error, begin, now())
      return
    }
    if (loaded > 0n) this.#log.now(LOAD_DONE, key, serial, loaded, now())
    else this.#read(key, found, begin, now())
  }

  #make(): Serial {
    this.#counter++
    return { worker: this.#number, counter: this.#counter }
  }

  #name(key: number): string {
    return this.#names[key] as string
  }

  #foreign(key: number, found: unknown, begin: bigint, end: bigint): void {
    const shown = String(found).slice(0, 400)
    console.log(`${this.#name(key)} gave, by a read begun at ${begin}: ${shown}`)
    this.#log.now(FOREIGN, key, NONE, begin, end)
  }
}

const [path = '', log = '', ...numbers] = process.argv.slice(2)
const [number = 0, seed = 0, reads = 0, keys = 0, ms = 0, operationsAClear = 0] =
  numbers.map(Number)
const cache = new Cache({ path, leaseTimeout: { ms } })
await new Worker(cache, new Log(log), number, keys, seed, operationsAClear).work(reads)
