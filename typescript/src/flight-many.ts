import { InvalidArgument } from './errors.ts'
import {
  ABSENT,
  type Brought,
  broughtBy,
  call,
  callingNow,
  checkOthers,
  Flight,
  type Flights,
  fill,
  flightsOf,
  HIT,
  type Landing,
  LOAD,
  type Load,
  type LoaderContext,
  type Loading,
  TIMED_OUT,
  timedOut,
  watched,
} from './flight.ts'
import { begin, end, given, isLoadedHere } from './flight-sync.ts'
import { type EntriesOf, pairsOf, shown } from './option-names.ts'
import { after, follow, orAbort, pause } from './wait.ts'

/** Loads the values of several missing keys. A key that it leaves out has no value. */
export type ManyLoader<K, T> = (
  keys: K[],
  context: LoaderContext,
) => EntriesOf<K, T | undefined> | PromiseLike<EntriesOf<K, T | undefined>>

/** The same, synchronously. */
export type SyncManyLoader<K, T> = (
  keys: K[],
  context: LoaderContext,
) => EntriesOf<K, T | undefined>

/** One `getOrSetMany`. */
export interface ManyRequest<K, L> {
  readonly namespace: Loading<K>
  readonly keys: readonly K[]
  readonly loader: L
  /** Milliseconds that an entry written now lives; 0 is for ever. */
  readonly ttl: () => number
  readonly signal?: AbortSignal | undefined
  /** As in `SyncRequest`. */
  readonly sleep?: ((ms: number) => void) | undefined
  /** See `Watchable`. */
  readonly waits?: (() => void) | undefined
}

/** A key that is still wanted. */
interface Wanted<K> {
  readonly key: K
  readonly name: unknown
  /** While it asks for the lease itself. */
  load: Load | undefined
  /** While it waits for another caller's load, and what came of that. */
  joined: { landing: { readonly of: Landing } | undefined } | undefined
  /** Whether it was looked for already, since it could have been brought. */
  looked: boolean
}

/** A key that this caller loads. */
interface Granted<K> {
  readonly wanted: Wanted<K>
  readonly flight: Flight
  readonly flying: Flight[]
}

/**
 * The values of the keys that are there or can be loaded, by the identities of the keys. One call of the loader loads
 * the keys that are not there and that no other caller loads. Then it waits for the keys that others load, and another
 * call loads those that fall to this caller.
 */
export function flyMany<T, K>(request: ManyRequest<K, ManyLoader<K, T>>): Promise<Map<unknown, T>> {
  return watched(request, flyManyOn<T, K>)
}

async function flyManyOn<T, K>(
  request: ManyRequest<K, ManyLoader<K, T>>,
): Promise<Map<unknown, T>> {
  const { signal, namespace } = request
  const leaving = new AbortController()
  const within = callingNow()
  const leave = () => leaving.abort(signal?.reason)
  signal?.throwIfAborted()
  const known = namespace.lookMany && (await orAbort(namespace.lookMany(request.keys), signal))
  const group = new Group<T, K>(request, within, leaving.signal, known)
  signal?.addEventListener('abort', leave)
  try {
    let began = performance.now()
    for (;;) {
      const waited = performance.now() - began
      const asked = group.ask(waited)
      const granted = asked instanceof Promise ? await orAbort(asked, signal) : asked
      if (granted.length > 0) {
        const loading = performance.now()
        await load(group, granted, request)
        // Time in the own loader does not count as waiting.
        began += performance.now() - loading
      } else if (group.isDone) {
        return group.found
      } else {
        if (waited >= namespace.handle.waitTimeout) throw timedOut(namespace.handle)
        request.waits?.()
        await orAbort(group.landed(namespace.handle.waitTimeout - waited), signal)
      }
    }
  } finally {
    signal?.removeEventListener('abort', leave)
    leaving.abort()
    group.leave()
  }
}

/** Like `flyMany`, before it returns. */
export function flyManySync<T, K>(request: ManyRequest<K, SyncManyLoader<K, T>>): Map<unknown, T> {
  return watched(request, flyManySyncOn<T, K>)
}

function flyManySyncOn<T, K>(request: ManyRequest<K, SyncManyLoader<K, T>>): Map<unknown, T> {
  const { loader, sleep } = request
  const group = new Group<T, K>(request, callingNow(), undefined)
  try {
    let began = performance.now()
    for (;;) {
      // Loads that answer at once.
      const granted = group.ask(performance.now() - began) as Granted<K>[]
      if (granted.length > 0) {
        const loading = performance.now()
        const keys = granted.map(({ wanted }) => wanted.key)
        group.store(granted, given(group.call(granted, () => loader(keys, { signal: undefined }))))
        began += performance.now() - loading
      } else if (group.isDone) {
        return group.found
      } else {
        sleep?.(group.patience)
      }
    }
  } finally {
    group.leave()
  }
}

/** Values by the keys as they were given, in that order. */
export function inOrder<K, T>(
  { keys, namespace }: ManyRequest<K, unknown>,
  found: ReadonlyMap<unknown, T>,
): Map<K, T> {
  const values = new Map<K, T>()
  for (const key of keys) {
    const value = found.get(namespace.identity(key))
    if (value !== undefined) values.set(key, value)
  }
  return values
}

async function load<T, K>(
  group: Group<T, K>,
  granted: readonly Granted<K>[],
  { loader, signal, namespace }: ManyRequest<K, ManyLoader<K, T>>,
): Promise<void> {
  const keys = granted.map(({ wanted }) => wanted.key)
  // Then the callers that wait begin again: see `run` in `flight.ts`.
  const forget = after(namespace.handle.leaseTimeout, () => {
    for (const { flight } of granted) flight.land(undefined)
  })
  try {
    const loading = group.call(granted, () => loader(keys, { signal }))
    const loaded = await orAbort(Promise.resolve(loading), signal)
    await group.store(granted, loaded as EntriesOf<K, T | undefined>)
  } catch (error) {
    for (const { flight } of granted) {
      flight.load.abandon()
      flight.land(signal?.aborted ? undefined : { error })
    }
    throw error
  } finally {
    forget()
  }
}

/** What a `getOrSetMany` has found, and the keys that it still wants. */
class Group<T, K> {
  readonly found = new Map<unknown, T>()
  /** Milliseconds until the next request for a lease. */
  patience = 0
  readonly #request: Omit<ManyRequest<K, unknown>, 'loader'>
  readonly #all: Flights
  /** By identity. */
  readonly #left = new Map<unknown, Wanted<K>>()
  readonly #granted = new Set<Granted<K>>()
  /** Ends the waiting for others; without it no load is joined. */
  readonly #leaving: AbortSignal | undefined
  #wake: () => void = () => {}
  #hasLeft = false
  readonly #within: readonly Flight[]

  /** `known` are values that were looked for already, by identity. */
  constructor(
    request: ManyRequest<K, unknown>,
    within: readonly Flight[],
    leaving: AbortSignal | undefined,
    known?: ReadonlyMap<unknown, unknown>,
  ) {
    const { namespace, keys } = request
    this.#request = request
    this.#within = within
    this.#leaving = leaving
    this.#all = flightsOf(namespace.handle.loads)
    for (const key of keys) {
      const name = namespace.identity(key)
      if (this.found.has(name) || this.#left.has(name)) continue
      const value = known === undefined ? namespace.find(key) : known.get(name)
      if (value !== undefined) this.found.set(name, value as T)
      else {
        this.#left.set(name, { key, name, load: undefined, joined: undefined, looked: true })
      }
    }
  }

  get isDone(): boolean {
    return this.#left.size === 0
  }

  /**
   * Looks once for each remaining key, after waiting for others for `waited` milliseconds. Returns those that this
   * caller is to load.
   * @throws InvalidArgument for the own key of a loader; WaitTimeout; what others' loads failed with
   */
  ask(waited: number): Granted<K>[] | Promise<Granted<K>[]> {
    this.patience = Number.POSITIVE_INFINITY
    const asked: Promise<void>[] = []
    for (const wanted of this.#left.values()) {
      if (wanted.joined !== undefined && !this.#isFinished(wanted)) continue
      const answer = this.#askFor(wanted, waited)
      if (answer !== undefined) asked.push(answer)
    }
    if (asked.length === 0) return [...this.#granted]
    return Promise.all(asked).then(() => [...this.#granted])
  }

  /** Waits until a joined load is over, or it is time to ask again; at most this many milliseconds. */
  async landed(most: number): Promise<void> {
    if ([...this.#left.values()].some(({ joined }) => joined?.landing !== undefined)) return
    let forget = () => {}
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
      forget = after(most, resolve)
    })
    // Another process' load keeps the process alive, as in `getOrSet`; one that was joined does so by itself.
    const { patience } = this
    const asks = patience !== Number.POSITIVE_INFINITY
    await (asks ? Promise.race([woken, pause(Math.min(patience, most))]) : woken)
    forget()
  }

  /** Calls the loader. */
  call<R>(granted: readonly Granted<K>[], loader: () => R): R {
    return call(
      granted.map(({ flight }) => flight),
      loader,
    )
  }

  /**
   * Stores what was loaded, all of it even if a part fails.
   * @throws InvalidArgument for a key that was not asked for, and then nothing is stored; what `handOver` does
   */
  store(granted: readonly Granted<K>[], loaded: EntriesOf<K, T | undefined>): void | Promise<void> {
    const values = this.#match(granted, loaded)
    const own: [unknown, () => unknown][] = []
    const failures: unknown[] = []
    const filled: Promise<void>[] = []
    for (const one of granted) {
      const { wanted, flight } = one
      const value = values.get(wanted.name)
      const end = () => {
        this.#end(one)
        this.#left.delete(wanted.name)
      }
      if (value === undefined) {
        // It was left out, and has no entry. Of others too, only callers that want this key alone load it.
        flight.land(ABSENT)
        end()
        continue
      }
      const fail = (error: unknown) => {
        failures.push(error)
        flight.land({ error })
        end()
      }
      const keep = (brought: Brought) => {
        own.push([wanted.name, brought.own])
        end()
      }
      try {
        const { namespace, ttl } = this.#request
        const answer = follow(fill(flight, one.flying, namespace.handle, value, ttl()), keep)
        if (answer !== undefined) filled.push(answer.catch(fail))
      } catch (error) {
        fail(error)
      }
    }
    const finish = () => {
      if (failures.length > 0) throw failures[0]
      // These may run the user's code.
      for (const [name, value] of own) this.found.set(name, value() as T)
    }
    return filled.length === 0 ? finish() : Promise.all(filled).then(finish)
  }

  /** Gives back what is left. */
  leave(): void {
    this.#hasLeft = true
    for (const one of this.#granted) this.#end(one)
    for (const { load } of this.#left.values()) load?.abandon()
  }

  /** Whether a joined load is over, and the key is to be asked for. If it brought a value, the key is found. */
  #isFinished(wanted: Wanted<K>): boolean {
    const landing = wanted.joined?.landing
    if (!landing) return false
    const { namespace } = this.#request
    const value = broughtBy(landing.of, namespace)
    wanted.joined = undefined
    wanted.looked = false
    if (value) this.#find(wanted, value.value)
    else if (landing.of === ABSENT) {
      namespace.handle.counts.misses++
      this.#left.delete(wanted.name)
    }
    return this.#left.has(wanted.name)
  }

  /** A promise where a server is asked. */
  #askFor(wanted: Wanted<K>, waited: number): void | Promise<void> {
    const { namespace, sleep } = this.#request
    const { handle } = namespace
    const { key, name } = wanted
    const newest = this.#all.get(name)?.at(-1)
    if (newest?.isOpen(handle.leaseTimeout, this.#within)) {
      checkOthers(newest, this.#within)
      if (this.#leaving !== undefined) {
        this.#join(wanted, newest, this.#leaving)
        return
      }
    }
    if (!wanted.looked) {
      wanted.looked = true
      const value = namespace.find(key)
      if (value !== undefined) {
        this.#find(wanted, value)
        return
      }
    }
    wanted.load ??= namespace.load(key)
    // See `flySync`.
    const beside =
      this.#leaving === undefined && (sleep === undefined || isLoadedHere(handle, name))
    const { load } = wanted
    return follow(load.step(waited, beside), (next) => this.#go(wanted, load, next))
  }

  /** Does what a step said. */
  #go(wanted: Wanted<K>, load: Load, next: number): void {
    // It was aborted meanwhile, and has no use for what was granted: `leave` ends the load.
    if (this.#hasLeft) return
    const { name } = wanted
    if (next === HIT) this.#find(wanted, load.value)
    else if (next === TIMED_OUT) throw timedOut(this.#request.namespace.handle)
    else if (next === LOAD) {
      const flying = this.#all.get(name) ?? []
      const flight = begin(new Flight(load, this.#within), name, this.#all, flying)
      this.#granted.add({ wanted, flight, flying })
    } else if (next < this.patience) this.patience = next
  }

  #join(wanted: Wanted<K>, flight: Flight, leaving: AbortSignal): void {
    wanted.load?.abandon()
    wanted.load = undefined
    const joined: Wanted<K>['joined'] = { landing: undefined }
    wanted.joined = joined
    const land = (of: Landing) => {
      joined.landing = { of }
      this.#wake()
    }
    // It throws when this caller leaves, and then the answer is not needed.
    flight.join(this.#request.namespace.handle, leaving).then(land, () => {})
  }

  #find(wanted: Wanted<K>, value: unknown): void {
    this.found.set(wanted.name, value as T)
    this.#left.delete(wanted.name)
  }

  #end(one: Granted<K>): void {
    const { wanted, flight, flying } = one
    flight.load.abandon()
    end(flight, wanted.name, this.#all, flying)
    this.#granted.delete(one)
  }

  /** What was loaded, by the identities of the keys. */
  #match(granted: readonly Granted<K>[], loaded: EntriesOf<K, T | undefined>): Map<unknown, T> {
    const asked = new Set(granted.map(({ wanted }) => wanted.name))
    const values = new Map<unknown, T>()
    for (const [key, value] of pairsOf(loaded, 'the loaded entries')) {
      let name: unknown
      try {
        name = this.#request.namespace.identity(key)
      } catch {
        // Nobody asked for what is no key.
      }
      if (!asked.has(name)) {
        const wanted = typeof granted[0].wanted.key
        // The keys of an object are text.
        const hint =
          typeof key === 'string' && wanted !== 'string' ? `: for ${wanted} keys return a Map` : ''
        throw new InvalidArgument(
          `the loader returned the key ${shown(key)}, which it was not asked for${hint}`,
        )
      }
      if (value !== undefined) values.set(name, value)
    }
    return values
  }
}
