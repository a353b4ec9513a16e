import type { Duration } from '../duration.ts'
import { MemoryCore, Owner } from './core.ts'
import type { MemoryEntry, Timed } from './entry.ts'
import { type EventName, type Heard, type Listener, Listeners, onceOnly, tell } from './events.ts'
import {
  checkGet,
  checkHas,
  checkSet,
  idleOrOwn,
  type MemoryCacheOptions,
  type MemoryGetOptions,
  type MemoryHasOptions,
  type MemorySetOptions,
  type MemoryStatus,
  type StaleOptions,
  ttlOrOwn,
} from './options.ts'
import { AS_IS, copyOut } from './plan.ts'
import { full, refuseUndefined, tooHeavy } from './refusals.ts'
import { COPIED, IDLE, ORDERED, type Slots, TIMED, VISITED } from './slots.ts'

const NO_OPTIONS = {}
/** The entries of one namespace in memory, key by key: what a `MemoryCache` and a cache without a directory have in common. */
export class MemoryEntries<K = string, V = unknown> {
  readonly #core: MemoryCore<K, V>
  readonly #slots: Slots<K, V>
  readonly #owner = new Owner<K>()
  readonly #index: Map<K, number> = this.#owner.index
  /** Undefined while there are no listeners and no loads. */
  #listeners: Listeners | undefined
  /** The same, while there are listeners to hits: other reads are faster. */
  #watched: Listeners | undefined

  /** @throws InvalidArgument for an option that is unknown or out of range */
  constructor(options?: MemoryCacheOptions<K, V>)
  /** @internal */
  constructor(options: MemoryCacheOptions<K, V> | MemoryCore<K, V> = {}) {
    this.#core = options instanceof MemoryCore ? options : new MemoryCore(options)
    this.#slots = this.#core.slots
    this.#core.join(this.#owner)
    const { removalListener } = this.#core
    if (removalListener !== undefined) this.told().removal = [removalListener]
  }

  /** Entries that are there. Some may have expired: they are freed when they are read, and within seconds otherwise. */
  get size(): number {
    return this.#core.store.live
  }

  /** Bytes that the entries weigh with their keys, by an estimate or the `weigher`; 0 when nothing is weighed. */
  get bytes(): number {
    return this.#core.store.weight
  }

  /**
   * The key's value; undefined when there is none.
   * @throws InvalidArgument
   */
  get(key: K, options?: MemoryGetOptions<V>): V | undefined {
    if (options !== undefined) return this.#getBy(key, options)
    const slot = this.#index.get(key)
    if (slot === undefined) return this.#miss(key)
    const slots = this.#slots
    const state = slots.state[slot]
    if (state !== VISITED || this.#watched !== undefined) return this.#hit(slot, state, key)
    this.#core.counts.hits++
    return slots.values[slot]
  }

  /** Like `get`, but not a use: the entry's place and time to live stay, and listeners are not told. */
  peek(key: K, options?: StaleOptions): V | undefined {
    if (options !== undefined) checkGet(options)
    if (options?.allowStale) {
      const slot = this.#index.get(key)
      return slot === undefined ? undefined : this.give(slot)
    }
    const slot = this.#find(key)
    return slot < 0 ? undefined : this.give(slot)
  }

  /** Whether the key has an entry that has not expired. Not a use. */
  has(key: K, options?: MemoryHasOptions<V>): boolean {
    if (options !== undefined) checkHas(options)
    const slot = this.#index.get(key)
    if (options?.status !== undefined) this.#tell(options.status, 'has', slot)
    if (slot === undefined) return false
    const state = this.#slots.state[slot]
    if ((state & TIMED) === 0) return true
    if (!this.#slots.isServed(slot, this.#core.clock.now())) return false
    if (options?.updateAgeOnHas ?? this.#core.behaviour.updateAgeOnHas) this.#core.renew(slot)
    return true
  }

  /** The key's value with its facts, also after it expired, as long as it is not freed. Not a use. */
  entry(key: K): MemoryEntry<K, V> | undefined {
    const slot = this.#index.get(key)
    if (slot === undefined) return undefined
    const expires = this.#expiryOf(slot)
    const stale = this.#isStale(slot)
    const ttl = stale ? 0 : Math.max(expires - this.#core.clock.now(), 0)
    return { key, value: this.give(slot), ttl, bytes: this.#slots.weights[slot], expires, stale }
  }

  /**
   * Milliseconds that the key's entry has left, to live or to idle, whichever is shorter; `Infinity` when it does not
   * expire, undefined when there is none. Not a use.
   */
  ttl(key: K): number | undefined {
    const slot = this.#find(key)
    if (slot < 0) return undefined
    // It may expire between two looks at the clock.
    return Math.max(this.#expiryOf(slot) - this.#core.clock.now(), 0)
  }

  /**
   * Stores a value.
   * @throws UnsupportedValue for undefined, and for what the isolation cannot copy; InvalidArgument; both change
   *   nothing. EntryTooLarge for one that is heavier than an entry may be, and NoSpace with the policy `none` if there
   *   is no room: then the old value is gone as well
   */
  set(key: K, value: V, options?: MemorySetOptions<V>): void {
    const core = this.#core
    if (options !== undefined || core.keepsExpiry) this.#setBy(key, value, options)
    // All arguments, because JavaScriptCore's calls are slower with some left out.
    else this.#put(key, value, core.ttl, core.idle, undefined, undefined, undefined)
  }

  /** Deletes the key and invalidates its loads; true when it had an entry. */
  delete(key: K): boolean {
    this.#listeners?.loads?.delete(key)
    const slot = this.#find(key)
    // An expired entry may have been kept.
    const left = slot < 0 && this.#core.behaviour.keepsStale ? this.#index.get(key) : slot
    if (left !== undefined && left >= 0) this.#drop(key, left)
    return slot >= 0
  }

  /** Deletes the key and returns the value that it had. Counts as a hit or a miss; a hit is told first. */
  take(key: K): V | undefined {
    for (;;) {
      this.#listeners?.loads?.delete(key)
      const slot = this.#find(key)
      if (slot < 0) return this.#miss(key)
      const kept = this.#slots.values[slot]
      const plan = this.#slots.plan[slot]
      // First: it may run the user's code, which may throw (then the entry stays), or change the cache.
      const value = copyOut(kept, plan) as V
      const stands = this.#index.get(key) === slot && Object.is(this.#slots.values[slot], kept)
      if (!stands) continue
      this.#core.counts.hits++
      this.#listeners?.postpone(this.#listeners.hit, key, kept, plan)
      this.#drop(key, slot)
      return value
    }
  }

  /**
   * Gives the key's entry another time to live from now on: the cache's `ttl` or another, `null` for ever. It is a use,
   * so a time to idle begins again.
   * @returns whether the key has an entry
   * @throws InvalidArgument
   */
  touch(key: K, ttl?: Duration | null): boolean {
    return this.touchFor(key, ttlOrOwn(ttl, this.#core.ttl))
  }

  /** Deletes everything and invalidates all loads. The counts stay. */
  clear(): void {
    const listeners = this.#listeners
    if (listeners !== undefined) {
      listeners.loads?.clear()
      const { keys, values, plan } = this.#slots
      if (listeners.removal !== undefined) {
        for (const slot of this.#index.values()) {
          listeners.postpone(listeners.removal, keys[slot], values[slot], plan[slot], 'cleared')
        }
      }
    }
    this.#core.clear(this.#owner)
    listeners?.flush()
    if (listeners?.cleared !== undefined) tell(listeners.cleared)
  }

  /** The keys that have an entry. One that expires while the iteration goes on may be among them. */
  keys(): IterableIterator<K> {
    // The index itself, when nothing there has expired.
    if (this.#core.allServed() && !this.isByUse) return this.#index.keys()
    return this.living((slot) => this.#slots.keys[slot])
  }

  /**
   * Calls a function whenever something happens, after it has. It may use the cache; what it throws is reported by
   * `process.emitWarning`. Values are as `peek` gives them. Nothing is spent on events that nobody listens to.
   * @throws InvalidArgument
   */
  on<E extends EventName>(event: E, listener: Listener<K, V, E>): this {
    const listeners = this.told()
    listeners.add(event, listener as Heard)
    this.#watched = listeners.hit && listeners
    return this
  }

  /** Like `on`, for the next time only. */
  once<E extends EventName>(event: E, listener: Listener<K, V, E>): this {
    if (typeof listener !== 'function') return this.on(event, listener)
    return this.on(
      event,
      onceOnly(listener as Heard, (self) => this.off(event, self)),
    )
  }

  /** Stops calling a function. */
  off<E extends EventName>(event: E, listener: Listener<K, V, E>): this {
    const listeners = this.#listeners ?? new Listeners()
    listeners.remove(event, listener as Heard)
    this.#watched = listeners.hit && listeners
    // Writes are faster without.
    if (!listeners.heard) this.#listeners = undefined
    return this
  }

  /** Deletes everything. The cache may still be used. */
  [Symbol.dispose](): void {
    this.clear()
  }

  /** What it shares with the caches of other namespaces. */
  protected get core(): MemoryCore<K, V> {
    return this.#core
  }

  /** Whether iterations go by the last use. */
  protected get isByUse(): boolean {
    return this.#core.store.isByUse
  }

  /** The listeners. */
  protected told(): Listeners {
    this.#listeners = this.#owner.listeners ??= new Listeners()
    return this.#listeners
  }

  /** The slot of a key, also of one that has expired. */
  protected slotOf(key: K): number | undefined {
    return this.#index.get(key)
  }

  /** Stores a value for a known time. Whether it did. */
  protected put(key: K, value: V, { ttl, idle, expires, size, stands }: Timed): boolean {
    return this.#put(key, value, ttl, idle, expires, size, stands)
  }

  /** Gives a key's entry another time to live, in milliseconds; `expires` is the end of it. */
  protected touchFor(key: K, ttl: number, expires?: number): boolean {
    const slot = this.#find(key)
    if (slot < 0) return false
    this.#core.expireIn(slot, ttl, this.#slots.timesOf(slot).idle, expires)
    this.#core.store.visit(slot)
    this.renewed(slot)
    return true
  }

  /**
   * What a load finds: the value, or the one that has expired and was not freed. Nothing is freed; a fresh one is a use
   * if asked for.
   */
  protected look(key: K, counts: boolean): { value: V | undefined; isFresh: boolean } | undefined {
    const slot = this.#index.get(key)
    if (slot === undefined) return undefined
    const isFresh = !this.#isStale(slot)
    const value =
      isFresh && counts ? this.#hit(slot, this.#slots.state[slot], key) : this.give(slot)
    return { value, isFresh: isFresh && value !== undefined }
  }

  /** Deletes an entry and tells listeners. */
  #drop(key: K, slot: number): void {
    const core = this.#core
    core.counts.deletes++
    const listeners = this.#listeners
    if (listeners !== undefined) {
      const { keys, values, plan } = this.#slots
      listeners.postpone(listeners.deleted, keys[slot], values[slot], plan[slot])
      listeners.postpone(listeners.removal, keys[slot], values[slot], plan[slot], 'deleted')
    }
    core.remove(this.#index, key, slot)
    listeners?.flush()
  }

  /** Part of each entry that is there when its turn comes: by the last use, or by the time at which its key came in. */
  protected *living<T>(
    give: (slot: number) => T,
    backwards = false,
  ): Generator<T, void, undefined> {
    const { allowStale } = this.#core.behaviour
    if (!backwards && !this.isByUse) {
      for (const slot of this.#index.values()) {
        if (allowStale || !this.#isStale(slot)) yield give(slot)
      }
      return
    }
    // A snapshot, because a use moves an entry: it might come again and again.
    const keys = this.isByUse
      ? this.#core.store.byUse().map((slot) => this.#slots.keys[slot])
      : [...this.#index.keys()]
    if (backwards) keys.reverse()
    for (const key of keys) {
      const slot = this.#index.get(key)
      if (slot !== undefined && (allowStale || !this.#isStale(slot))) yield give(slot)
    }
  }

  #getBy(key: K, options: MemoryGetOptions<V>): V | undefined {
    checkGet(options)
    const slot = this.#index.get(key)
    if (options.status !== undefined) this.#tell(options.status, 'get', slot)
    if (slot === undefined) return this.#miss(key)
    if (this.#isStale(slot)) return this.#expired(slot, key, options)
    return this.#hit(slot, this.#slots.state[slot], key)
  }

  /** A read of a slot that is not just VISITED, or that a listener may want to hear of. */
  #hit(slot: number, state: number, key: K): V | undefined {
    const slots = this.#slots
    if ((state & TIMED) !== 0) {
      if (!slots.isServed(slot, this.#core.clock.now())) return this.#expired(slot, key, NO_OPTIONS)
      if ((state & IDLE) !== 0) this.#core.used(slot)
    }
    if ((state & VISITED) === 0) this.#core.store.visit(slot)
    this.#core.counts.hits++
    const value = slots.values[slot]
    const plan = slots.plan[slot]
    const heard = this.#watched?.hit
    if (heard !== undefined) tell(heard, key, value, plan)
    return (state & COPIED) === 0 ? value : (copyOut(value, plan) as V)
  }

  /** A read of an expired entry. */
  #expired(slot: number, key: K, options: MemoryGetOptions<V>): V | undefined {
    const core = this.#core
    const { allowStale = core.behaviour.allowStale, status } = options
    const { noDeleteOnStaleGet = core.behaviour.noDeleteOnStaleGet } = options
    const kept = this.#slots.values[slot]
    const plan = this.#slots.plan[slot]
    if (!noDeleteOnStaleGet) core.expire(slot)
    if (!allowStale) return this.#miss(key)
    if (status !== undefined) status.returnedStale = true
    core.counts.hits++
    this.#listeners?.flush()
    const heard = this.#watched?.hit
    if (heard !== undefined) tell(heard, key, kept, plan)
    return copyOut(kept, plan) as V
  }

  #miss(key: K): undefined {
    this.#core.counts.misses++
    const listeners = this.#listeners
    if (listeners === undefined) return
    // What expired by the same read comes first.
    listeners.flush()
    if (listeners.miss !== undefined) tell(listeners.miss, key)
  }

  /** The slot of a key's entry; -1 when there is none. An expired one is freed, unless it may still be read. */
  #find(key: K): number {
    const slot = this.#index.get(key)
    if (slot === undefined) return -1
    if ((this.#slots.state[slot] & TIMED) === 0) return slot
    if (this.#slots.isServed(slot, this.#core.clock.now())) return slot
    const { allowStale, keepsStale, deleteOnExpire } = this.#core.behaviour
    if (allowStale) return slot
    if (keepsStale && deleteOnExpire) return -1
    this.#core.expire(slot)
    this.#listeners?.flush()
    return -1
  }

  #isStale(slot: number): boolean {
    if ((this.#slots.state[slot] & TIMED) === 0) return false
    return !this.#slots.isServed(slot, this.#core.clock.now())
  }

  /** The value for a caller that asked for it. */
  protected give(slot: number): V {
    const value = this.#slots.values[slot]
    if ((this.#slots.state[slot] & COPIED) === 0) return value
    return copyOut(value, this.#slots.plan[slot]) as V
  }

  #setBy(key: K, value: V, options: MemorySetOptions<V> = {}): void {
    checkSet(options)
    const { core } = this
    let times: Timed = {
      ttl: ttlOrOwn(options.ttl, core.ttl),
      idle: idleOrOwn(options.timeToIdle, core.idle),
    }
    const { size, status } = options
    const { noUpdateTTL = core.behaviour.noUpdateTTL } = options
    const slot = this.#index.get(key)
    if (noUpdateTTL && slot !== undefined && !this.#isStale(slot)) times = this.#slots.timesOf(slot)
    if (status !== undefined) {
      const old = slot === undefined ? undefined : this.give(slot)
      status.set = slot === undefined ? 'add' : old === value ? 'update' : 'replace'
      if (status.set === 'replace') status.oldValue = old as V
    }
    this.#put(key, value, times.ttl, times.idle, times.expires, size, undefined)
    if (status !== undefined) status.ttl = this.ttl(key) as number
  }

  /** `expires` is for an entry that keeps its time to live: the end of it. */
  #put(
    key: K,
    value: V,
    ttl: number,
    idle: number,
    expires: number | undefined,
    size: number | undefined,
    stands: Timed['stands'],
  ): boolean {
    if (value === undefined || key === undefined) refuseUndefined(value)
    const core = this.#core
    const { keeper } = core
    // First, because these may run code of users.
    const kept = keeper.keep(value) as V
    const { plan } = keeper
    const flags = plan === AS_IS ? 0 : COPIED
    const weight = size === undefined ? core.weigh(key, value) : core.weighAs(size)
    if (stands !== undefined && !stands(weight)) return false
    const listeners = this.#listeners
    const slots = this.#slots
    const { state } = slots
    let slot = this.#index.get(key)
    if (
      slot !== undefined &&
      slots.weights[slot] === weight &&
      (state[slot] & ORDERED) === 0 &&
      listeners === undefined
    ) {
      // `Store.put` in its simplest case.
      slots.values[slot] = kept
      state[slot] = VISITED | flags
    } else {
      slot = this.#putSlowly(slot, key, kept, weight, flags)
    }
    slots.plan[slot] = plan
    this.renewed(slot)
    core.counts.writes++
    if (ttl + idle > 0) core.expireIn(slot, ttl, idle, expires)
    if (listeners !== undefined) listeners.tellOfSet(key, kept, plan)
    return true
  }

  /** An entry was written or touched. */
  protected renewed(_slot: number): void {}

  #putSlowly(found: number | undefined, key: K, kept: V, weight: number, flags: number): number {
    const { store, owners, heaviest, behaviour } = this.#core
    if (weight > heaviest) this.#refuse(key, weight)
    if (behaviour.refuses) found = this.#makeRoom(key, weight)
    this.#listeners?.beforeSet(key, kept, found, this.#slots)
    const slot = store.put(found, key, kept, weight, flags)
    if (slot !== found) this.#index.set(key, slot)
    if (owners !== undefined) owners[slot] = this.#owner
    return slot
  }

  /** What the entry was to replace is superseded. */
  #refuse(key: K, weight: number): never {
    this.delete(key)
    const { heaviest, store } = this.#core
    throw tooHeavy(weight, heaviest, store.bounds)
  }

  /** For a cache without eviction. */
  #makeRoom(key: K, weight: number): number | undefined {
    if (!this.#core.hasRoom(this.#index, key, weight)) {
      this.delete(key)
      throw full(this.#core.store.bounds)
    }
    return this.#index.get(key)
  }

  #expiryOf(slot: number): number {
    if ((this.#slots.state[slot] & TIMED) === 0) return Number.POSITIVE_INFINITY
    return this.#slots.expires[slot]
  }

  /** Notes what a read finds. */
  #tell(status: MemoryStatus<V>, what: 'get' | 'has', slot: number | undefined): void {
    status[what] = slot === undefined ? 'miss' : this.#isStale(slot) ? 'stale' : 'hit'
    if (slot !== undefined) status.ttl = this.#expiryOf(slot) - this.#core.clock.now()
  }
}
