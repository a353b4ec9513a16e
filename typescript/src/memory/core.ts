import { type Types, typesOf } from '../entry/registered.ts'
import { MAX_TIME } from '../entry/validity.ts'
import { InvalidArgument } from '../errors.ts'
import type { Watching } from '../flight.ts'
import { CoarseClock } from './clock.ts'
import type { Heard, Listeners } from './events.ts'
import { Keeper } from './keeper.ts'
import type { MemoryLoader } from './load-options.ts'
import {
  type Behaviour,
  behaviourOf,
  idleOrOwn,
  type MemoryCacheOptions,
  resolveMemory,
  ttlOrOwn,
} from './options.ts'
import { copyOut } from './plan.ts'
import { IDLE, Slots, TIMED, TOLD } from './slots.ts'
import { Store } from './store.ts'
import { type Sweepable, Sweeper } from './sweeper.ts'
import { weighKey } from './weigh.ts'

/** The keys of one namespace, and what hears of them. */
export class Owner<K> {
  readonly index: Map<K, number> = new Map()
  /** Undefined while there are no listeners. */
  listeners: Listeners | undefined
}

/** Makes another keeper than the usual one. */
export type MakeKeeper = (...of: ConstructorParameters<typeof Keeper>) => Keeper | undefined

/** What was done, of all namespaces. */
export interface Counts {
  hits: number
  misses: number
  writes: number
  deletes: number
  expired: number
  evicted: number
  invalidatedLoads: number
  unstored: number
  waitTimeouts: number
}

/** What the namespaces of a memory cache share: bounds, policy, clock, isolation. */
export class MemoryCore<K, V> {
  readonly slots: Slots<K, V> = new Slots()
  readonly store: Store<K, V>
  readonly keeper: Keeper
  readonly clock: CoarseClock
  readonly sweeper: Sweeper
  /** Milliseconds that an entry lives if its write does not say; 0 is for ever. */
  readonly ttl: number
  /** Milliseconds that an entry lives without a use if its write does not say; 0 is for ever. */
  readonly idle: number
  readonly behaviour: Behaviour
  /** Checked by every write: an entry that is set again keeps its expiry. */
  readonly keepsExpiry: boolean
  /** Is told of every value that leaves. */
  readonly removalListener: Heard | undefined
  /** What `fetch` loads with. */
  readonly loader: MemoryLoader<K, V> | undefined
  /** Bytes of one entry at most. */
  readonly heaviest: number
  /** Always the same object. */
  readonly counts: Counts = {
    hits: 0,
    misses: 0,
    writes: 0,
    deletes: 0,
    expired: 0,
    evicted: 0,
    invalidatedLoads: 0,
    unstored: 0,
    waitTimeouts: 0,
  }
  /** The codes of values that could not be stored, once they were reported. */
  readonly reported: Set<string> = new Set()
  /** See `Waiting`. */
  watch: Watching | undefined
  /** Entries freed because they had expired. */
  freed = 0
  /** What hears of the slot that is evicted, while a caller takes one out itself. */
  popping: ((slot: number) => void) | undefined
  /** The owner of each slot's key. Absent while there is only one namespace. */
  owners: (Owner<K> | undefined)[] | undefined
  #first: Owner<K> | undefined
  readonly #weigher: ((key: K, value: V) => number) | undefined
  readonly #weighs: boolean
  /** Held here: the sweeper holds it weakly. */
  readonly #sweepable: Sweepable

  /** @throws InvalidArgument */
  constructor(options: MemoryCacheOptions<K, V>, makeKeeper?: MakeKeeper, types?: Types) {
    const behaviour = behaviourOf(options)
    this.behaviour = behaviour
    this.keepsExpiry = behaviour.noUpdateTTL
    this.removalListener = options.removalListener as Heard | undefined
    this.loader = options.loader
    const { bounds, policy, isolation, cloneInstance } = resolveMemory(options)
    const { slots, counts } = this
    this.#weigher = options.weigher
    this.heaviest = Math.min(bounds.maxBytes, behaviour.maxEntrySize)
    this.#weighs = this.heaviest !== Number.POSITIVE_INFINITY || this.#weigher !== undefined
    const weighs = this.#weighs && this.#weigher === undefined
    const of = [isolation, weighs, cloneInstance, types ?? typesOf(options.types)] as const
    this.keeper = makeKeeper?.(...of) ?? new Keeper(...of)
    this.ttl = ttlOrOwn(options.ttl, 0)
    this.idle = idleOrOwn(options.timeToIdle, 0)
    this.clock = new CoarseClock(options.clock)
    this.store = new Store(slots, bounds, policy, (slot) => {
      counts.evicted++
      this.popping?.(slot)
      this.#drop(slot, 'evicted')
    })
    this.#sweepable = {
      now: () => this.clock.exactly(),
      slots: () => slots.length,
      sweep: (from, to, now, asked) => this.#sweep(from, to, now, asked),
    }
    // What reads may still ask for must not be freed unnoticed; its expiry may be told.
    const { keepsStale, deleteOnExpire, checkPeriod } = behaviour
    const isLeftToReads = keepsStale && deleteOnExpire
    this.sweeper = new Sweeper(
      this.#sweepable,
      isLeftToReads ? Number.POSITIVE_INFINITY : checkPeriod,
    )
  }

  /**
   * Makes values for callers that share a load.
   * @throws UnsupportedValue
   */
  copyOf(value: unknown): () => unknown {
    const kept = this.keeper.keep(value)
    const { plan } = this.keeper
    return () => copyOut(kept, plan)
  }

  /**
   * Bytes of an entry whose value the keeper has just kept.
   * @throws InvalidArgument for what is not a weight
   */
  weigh(key: K, value: V): number {
    if (!this.#weighs) return 0
    if (this.#weigher === undefined) return this.keeper.weight + weighKey(key)
    const weight = this.#weigher(key, value)
    if (Number.isSafeInteger(weight) && weight >= 0) return weight
    throw new InvalidArgument(
      `the weigher returned ${String(weight)}: a weight is a whole number from 0 on`,
    )
  }

  /**
   * The weight that a write says.
   * @throws InvalidArgument
   */
  weighAs(size: number): number {
    if (this.#weighs) return size
    throw new InvalidArgument('size means nothing without maxBytes, maxEntrySize or a weigher')
  }

  /**
   * Lets an entry expire `ttl` milliseconds from now, and `idle` milliseconds after its last use; 0 is never. `then` is the
   * end of the time to live of an entry that keeps it.
   */
  expireIn(slot: number, ttl: number, idle: number, then?: number): void {
    const { slots, sweeper } = this
    if (ttl + idle === 0) {
      slots.state[slot] &= ~(TIMED | IDLE | TOLD)
      return
    }
    const now = this.clock.exactly()
    const end = then ?? (ttl === 0 ? Number.POSITIVE_INFINITY : Math.min(now + ttl, MAX_TIME))
    if (idle > 0) {
      slots.timeIdle(slot, idle, end)
      this.#idleFrom(slot, now, now)
      return
    }
    slots.time(slot, end, ttl)
    slots.state[slot] = (slots.state[slot] & ~(IDLE | TOLD)) | TIMED
    if (end < sweeper.seen) sweeper.expect(end, now)
  }

  /** Begins the time to idle of an entry anew: at its use now, or at an earlier one. */
  used(slot: number, at?: number): void {
    const now = this.clock.exactly()
    this.#idleFrom(slot, at ?? now, now)
  }

  /** Begins an entry's time to idle anew, or, if it has none, its time to live. */
  renew(slot: number): void {
    const { state, ttl } = this.slots
    if ((state[slot] & IDLE) !== 0) this.used(slot)
    else if ((state[slot] & TIMED) !== 0) this.expireIn(slot, ttl[slot], 0)
  }

  #idleFrom(slot: number, used: number, now: number): void {
    const { slots, sweeper } = this
    const expires = Math.min(used + slots.idle[slot], slots.deadline[slot], MAX_TIME)
    slots.time(slot, expires, expires - used)
    slots.state[slot] = (slots.state[slot] & ~TOLD) | TIMED | IDLE
    if (expires < sweeper.seen) sweeper.expect(expires, now)
  }

  /** Whether no entry has expired, or is hidden because the clock was set back. */
  allServed(): boolean {
    if (this.behaviour.keepsStale) return false
    const now = this.clock.now()
    return now < this.sweeper.first && now >= this.slots.settled
  }

  /** Adds a namespace. */
  join(owner: Owner<K>): void {
    if (this.#first === undefined) this.#first = owner
    else this.owners ??= new Array(this.slots.length).fill(this.#first)
  }

  #ownerOf(slot: number): Owner<K> {
    return (this.owners === undefined ? this.#first : this.owners[slot]) as Owner<K>
  }

  /** Lets a slot's key lead nowhere. It is told when the operation that this is part of has done its work. */
  #drop(slot: number, cause: 'evicted' | 'expired'): void {
    const { keys, values, plan, state } = this.slots
    const { index, listeners } = this.#ownerOf(slot)
    const key = keys[slot]
    index.delete(key)
    // Otherwise an unused namespace would be held by its former slots.
    if (this.owners !== undefined) this.owners[slot] = undefined
    if (listeners === undefined) return
    // The event of an entry that was to stay was told when its time was over.
    const isTold = cause === 'expired' && (state[slot] & TOLD) !== 0
    if (!isTold) listeners.postpone(listeners[cause], key, values[slot], plan[slot])
    listeners.postpone(listeners.removal, key, values[slot], plan[slot], cause)
  }

  /** Deletes all that a namespace has. */
  clear({ index }: Owner<K>): void {
    const { store } = this
    if (this.owners !== undefined) {
      for (const slot of index.values()) {
        store.remove(slot)
        this.owners[slot] = undefined
      }
      index.clear()
      return
    }
    index.clear()
    store.clear()
    this.sweeper.clear()
  }

  /** Whether there is room for an entry without eviction; expired entries make room. */
  hasRoom(index: Map<K, number>, key: K, weight: number): boolean {
    if (this.store.hasRoom(index.get(key), weight)) return true
    this.sweeper.sweep()
    return this.store.hasRoom(index.get(key), weight)
  }

  /** Takes an entry out that its owner deletes. */
  remove(index: Map<K, number>, key: K, slot: number): void {
    index.delete(key)
    if (this.owners !== undefined) this.owners[slot] = undefined
    this.store.remove(slot)
  }

  /** Frees an entry that has expired; one that is to stay is told of, once. */
  expire(slot: number, asked = false): void {
    if (!this.behaviour.deleteOnExpire && !asked) {
      this.#tellExpired(slot)
      return
    }
    this.freed++
    if ((this.slots.state[slot] & TOLD) === 0) this.counts.expired++
    this.#drop(slot, 'expired')
    this.store.remove(slot)
  }

  #tellExpired(slot: number): void {
    const { state, keys, values, plan } = this.slots
    if ((state[slot] & TOLD) !== 0) return
    state[slot] |= TOLD
    this.counts.expired++
    const { listeners } = this.#ownerOf(slot)
    listeners?.postpone(listeners.expired, keys[slot], values[slot], plan[slot])
  }

  #sweep(from: number, to: number, now: number, asked: boolean): number {
    const { state, expires } = this.slots
    const told = new Set<Owner<K>>()
    let first = Number.POSITIVE_INFINITY
    for (let slot = from; slot < to; slot++) {
      if ((state[slot] & TIMED) === 0) continue
      if (expires[slot] > now) {
        if (expires[slot] < first) first = expires[slot]
      } else {
        told.add(this.#ownerOf(slot))
        this.expire(slot, asked)
      }
    }
    for (const { listeners } of told) listeners?.flush()
    return first
  }
}
