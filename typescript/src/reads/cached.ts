import type { Cache } from '../cache.ts'
import { InvalidArgument } from '../errors.ts'
import { guarded, native } from '../host/native.ts'
import { Representation } from '../http/representation.ts'
import { Closed } from '../more-errors.ts'
import { asBuffer, isWord } from '../redis-namespace/word.ts'
import { asked } from '../remote/answers.ts'
import type { At, NativeRead, NativeReads } from '../remote/native.ts'
import { type Exchanged, exchange } from './exchange.ts'
import { isBounded } from './expiry.ts'
import { jsonOf } from './json.ts'
import { handedOut, KeptReplies } from './kept.ts'
import { Landed } from './landed.ts'
import { Calls, nameOf, within } from './name.ts'
import { type CachedOptions, type Opened, openReads } from './options.ts'
import { jsonOfPacked, pack, unpack } from './packed.ts'
import {
  commandOf,
  isRead,
  isReadMethod,
  MOST_KEYS,
  nameGiven,
  type Plan,
  planOf,
  refusal,
} from './plan.ts'
import { room, settled } from './room.ts'
import { slotOfAll } from './slots.ts'
import { noReadStats, type ReadStats, WHYS } from './stats.ts'
import type { CachedReads } from './types.ts'
import { type Prepared, type Way, wayOf } from './ways.ts'

/**
 * The client's own read commands, answered from this process' memory or from what this host keeps, while that is no
 * further behind the server than `maxStaleness`. What is not kept, or not by a server that is heard, the client reads.
 *
 * ```ts
 * const reads = cached(redis, { path: '.cache' })
 * const options = await reads.xrange('OPTIONS', '-', '+')
 * const page = await reads.json.xrange('OPTIONS', '-', '+')
 * ```
 *
 * @throws InvalidArgument for a client whose replies cannot be cached, with the reason, and for a wrong option
 */
export function cached<C extends object>(
  client: C,
  options: CachedOptions | Cache = {},
): CachedReads<C> {
  const way = wayOf(client)
  return new Reads(way, openReads(way, options)).methods(client) as CachedReads<C>
}

interface Flight {
  readonly began: number
  readonly landing: Promise<Landed>
}

type Call = (...given: readonly unknown[]) => Promise<unknown>

const NOTHING = Buffer.alloc(0)
const NO_PLAN: Plan = { keys: [], showsFields: false, isDocument: false }
/** Of the bytes that replies are kept as: a release that writes others counts it up, as both may use one directory. */
const FORM = 2
let out = room()

class Reads {
  readonly #way: Way
  readonly #opened: Opened
  readonly #native: NativeReads
  readonly #kept: KeptReplies
  readonly #flights = new Map<string, Flight>()
  readonly #stats = noReadStats()
  readonly #prefixes: readonly Buffer[]
  #closed = false

  constructor(way: Way, opened: Opened) {
    this.#way = way
    this.#opened = opened
    // As the client sends them, which may put a prefix of its own before them. A function may give any.
    this.#prefixes = way.space ? [NOTHING] : opened.prefixes.map((prefix) => this.#sentKey(prefix))
    const { handle } = opened
    this.#native = guarded(() => native().NativeReads.open(handle.native, [...this.#prefixes]))
    this.#kept = new KeptReplies(handle.calls, this.#native.number, opened.memory)
  }

  /** An object with the client's methods that read. */
  methods(client: object): object {
    const refused = new Proxy(Object.create(null) as object, {
      get: (_, name) => {
        const there = typeof name === 'string' && typeof Reflect.get(client, name) === 'function'
        return there ? () => Promise.reject(refusal(commandOf(name))) : undefined
      },
    })
    const reads = Object.create(refused) as Record<string, unknown>
    const json = Object.create(null) as Record<string, Call>
    for (const name of readsOf(client, this.#way)) {
      const calls = new Calls(name)
      reads[name] = this.#method(name, calls)
      json[name] = this.#jsonMethod(name, calls)
    }
    reads.json = json
    reads.stats = (): ReadStats => ({ ...this.#stats, uncached: { ...this.#stats.uncached } })
    reads.forget = (...keys: string[]) => this.#forget(keys)
    reads.close = () => this.#close()
    return reads
  }

  #method(method: string, calls: Calls): Call {
    const kept = this.#kept
    const stats = this.#stats
    return (...given) => {
      try {
        const known = calls.of(given)
        const prepared = known === undefined ? this.#way.prepare(method, given) : undefined
        if (prepared?.why !== undefined) return prepared.why
        const call = this.#here(calls, known, prepared)
        const found = kept.get(call)
        if (found !== undefined) {
          stats.memoryHits++
          return Promise.resolve(found)
        }
        const landing = this.#landed(call, method, given, prepared)
        return landing.then((landed) => this.#handOut(call, landed))
      } catch (error) {
        return Promise.reject(error)
      }
    }
  }

  #jsonMethod(method: string, calls: Calls): Call {
    const kept = this.#kept
    const stats = this.#stats
    const own = new Calls(`json ${method}`)
    return (...given) => {
      try {
        const known = own.of(given)
        const prepared = known === undefined ? this.#way.prepare(method, given) : undefined
        if (prepared?.why !== undefined) return prepared.why
        const call = this.#here(own, known, prepared)
        const found = kept.get(call)
        if (found !== undefined) {
          stats.memoryHits++
          return Promise.resolve(found)
        }
        const read = this.#here(calls, calls.of(given), prepared)
        const landing = this.#landed(read, method, given, prepared)
        return landing.then((landed) => this.#represented(call, landed))
      } catch (error) {
        return Promise.reject(error)
      }
    }
  }

  /** The text of a call in the namespace of this moment; of its words, where its arguments have none. */
  #here(calls: Calls, known: string | undefined, prepared: Prepared | undefined): string {
    const call = known ?? calls.ofWords(prepared?.words ?? [])
    const { space } = this.#way
    return space ? within(space(), call) : call
  }

  /** The JSON of a reply, kept if this host has the reply. */
  #represented(call: string, landed: Landed): unknown {
    // Another caller of the same flight may have made it.
    const made = this.#kept.get(call)
    if (made !== undefined) return made
    const length = this.#near(landed.name)
    const isLanded = length < 0 || this.#isSame(landed, length)
    const representation = isLanded
      ? landed.representation(this.#opened.memory.isolation === 'none')
      : new Representation(representedJson(out.subarray(0, length), landed))
    out = settled(out)
    if (length >= 0) this.#kept.put(call, representation, representation.held)
    return representation
  }

  /** The reply as callers get it; the first of them has it kept, if this host has it. */
  #handOut(call: string, landed: Landed): unknown {
    const isFirst = landed.isUnasked
    const isolated = landed.isolated(this.#kept)
    if (isFirst && landed.packed !== undefined) {
      const length = this.#near(landed.name)
      if (length >= 0 && this.#isSame(landed, length)) this.#kept.put(call, isolated, length)
      out = settled(out)
    }
    return handedOut(isolated)
  }

  /** Whether what this host has, in `out`, is what a read brought. */
  #isSame({ packed }: Landed, length: number): boolean {
    return packed?.length === length && packed.equals(out.subarray(0, length))
  }

  /** The reply of a call; callers of this process share a read that is under way. */
  #landed(
    call: string,
    method: string,
    given: readonly unknown[],
    prepared?: Prepared,
  ): Promise<Landed> {
    if (this.#closed) return Promise.reject(new Closed('the cached reads were closed; open others'))
    const now = performance.now()
    const flight = this.#flights.get(call)
    if (flight !== undefined && now - flight.began < this.#opened.joinsWithin) {
      this.#stats.joined++
      return flight.landing
    }
    const landing = this.#read(method, given, prepared).finally(() => {
      if (this.#flights.get(call)?.landing === landing) this.#flights.delete(call)
    })
    this.#flights.set(call, { began: now, landing })
    return landing
  }

  async #read(method: string, given: readonly unknown[], made?: Prepared): Promise<Landed> {
    const named = nameGiven(method, given)
    if (named !== undefined && !isRead(named)) throw refusal(named)
    const prepared = made ?? this.#way.prepare(method, given)
    if (prepared.why !== undefined) return prepared.why
    if (!prepared.words.every(isWord)) {
      // The client itself says what is wrong.
      return Landed.sent(NOTHING, NO_PLAN, await prepared.send())
    }
    const planned = planOf(prepared.words)
    const plan = prepared.isTransformed ? { ...planned, isDocument: false } : planned
    this.#checkPrefixes(plan)
    const isCluster = this.#way.lineTo !== undefined
    const slot = isCluster ? slotOfAll(prepared.words[0], plan.keys) : 0
    const shape = `${FORM} ${this.#way.shape} ${method} ${prepared.shape ?? ''}`
    const name = nameOf(plan.keys, shape, prepared.words)
    if (plan.keys.length > MOST_KEYS) {
      this.#count(4)
      return this.#pass(name, prepared, plan)
    }
    const { calls, native: root } = this.#opened.handle
    const reads = this.#native.number
    if (!calls.readIsKnown(reads) && !(await asked(calls.readKnow(root.number, reads)))) {
      // The server does not answer the cache; what it tells the client is the client's business.
      this.#count(1)
      return this.#pass(name, prepared, plan)
    }
    const began = performance.now()
    for (;;) {
      const length = this.#near(name)
      if (length >= 0) {
        this.#stats.hostHits++
        const landed = Landed.near(name, plan, Buffer.from(out.subarray(0, length)))
        out = settled(out)
        return landed
      }
      const begun = calls.readBegin(...this.#at(name), performance.now() - began, out)
      if (typeof begun !== 'number') return this.#ask(name, prepared, plan, slot, begun)
      if (begun >= 0) await new Promise((resolve) => setTimeout(resolve, begun))
    }
  }

  /** A read that is not kept at all. */
  async #pass(name: Buffer, prepared: Prepared, plan: Plan): Promise<Landed> {
    const reply = await this.#sent(prepared)
    const packed = this.#kept.needsBytes(reply) ? pack(reply) : undefined
    return Landed.sent(name, plan, reply, packed && Buffer.from(packed))
  }

  /** Has the client read, and keeps the reply if it may. */
  async #ask(
    name: Buffer,
    prepared: Prepared,
    plan: Plan,
    slot: number,
    begun: NativeRead,
  ): Promise<Landed> {
    const why = out[0]
    const askedKey = Buffer.from(out.subarray(5, 5 + out.readUInt32LE(1)))
    this.#count(why)
    this.#stats.sent++
    const isToBeKept = why === 0
    let brought: Exchanged | undefined
    let packed: Buffer | undefined
    let isKept = false
    try {
      brought = await exchange(this.#way, prepared, plan, askedKey, isToBeKept, slot)
      if (isToBeKept || this.#kept.needsBytes(brought.reply)) packed = pack(brought.reply)
    } finally {
      // Whatever failed: others wait for the lease.
      isKept = this.#end(name, begun, brought, isToBeKept ? packed : undefined)
    }
    if (isToBeKept && !isKept) this.#count(4)
    return Landed.sent(name, plan, brought.reply, packed && Buffer.from(packed))
  }

  /** Whether the reply is kept. */
  #end(
    name: Buffer,
    begun: NativeRead,
    brought: Exchanged | undefined,
    packed: Buffer | undefined,
  ): boolean {
    const { calls } = this.#opened.handle
    const at = this.#at(name)
    if (brought === undefined) return calls.readEnd(...at, begun, NOTHING, NOTHING, -1, 0)
    const { answer, expires } = brought
    const kept = packed !== undefined && isBounded(expires) ? packed : NOTHING
    return calls.readEnd(...at, begun, answer, kept, kept.length, expires ?? 0)
  }

  #sent(prepared: Prepared): Promise<unknown> {
    this.#stats.sent++
    return prepared.send()
  }

  /** The length of the reply that this host has, in `out`; -1 for none. */
  #near(name: Buffer): number {
    // What the client sent by itself, as it was no list of words.
    if (name.length === 0) return -1
    const { calls } = this.#opened.handle
    for (;;) {
      const length = calls.readNear(...this.#at(name), out)
      if (length <= out.length) return length
      out = room(length)
    }
  }

  #at(name: Buffer): At {
    return [this.#native.number, name, 0, name.length]
  }

  /** A key as the client sends it. */
  #sentKey(key: string): Buffer {
    const [, word] = this.#way.prepare('get', [key]).words
    return typeof word === 'string' ? Buffer.from(word) : asBuffer(word)
  }

  #checkPrefixes({ keys }: Plan): void {
    for (const key of keys) {
      const bytes = typeof key === 'string' ? Buffer.from(key) : asBuffer(key)
      const begins = (prefix: Buffer) => bytes.subarray(0, prefix.length).equals(prefix)
      if (!this.#prefixes.some(begins)) {
        throw new InvalidArgument(
          `the key ${String(bytes)} begins with none of prefixes: nobody would hear of its writes`,
        )
      }
    }
  }

  #count(why: number): void {
    const name = WHYS[why]
    if (name !== undefined) this.#stats.uncached[name]++
  }

  #forget(keys: readonly string[]): void {
    // What is under way was begun before the write, perhaps.
    this.#flights.clear()
    // Its own error, if it gives no namespace now.
    this.#way.space?.()
    const words = keys.map((key) => this.#sentKey(key))
    this.#opened.handle.calls.readForget(...this.#at(nameOf(words, '', [])))
  }

  async #close(): Promise<void> {
    this.#closed = true
    this.#kept.clear()
    await this.#opened.close()
  }
}

/** The JSON of a reply's bytes, which it does not share. */
function representedJson(packed: Buffer, { isDocument }: Landed): Buffer {
  const json = jsonOfPacked(packed)
  return json ? Buffer.from(json) : jsonOf(unpack(packed), isDocument)
}

/** The names of a client's methods that read. */
function readsOf(client: object, { sendsWords = false }: Way): Set<string> {
  const names = new Set<string>()
  for (
    let one: object | null = client;
    one && one !== Object.prototype;
    one = Object.getPrototypeOf(one)
  ) {
    for (const name of Object.getOwnPropertyNames(one)) {
      if (!isReadMethod(name) && !(sendsWords && name === 'sendCommand')) continue
      if (typeof Reflect.get(client, name) === 'function') names.add(name)
    }
  }
  return names
}
