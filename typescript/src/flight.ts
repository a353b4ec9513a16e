import { InvalidArgument, WaitTimeout } from './errors.ts'
import { handOver, type Reporting } from './unstored.ts'
import { after, follow, orAbort, pause } from './wait.ts'

/** What a loader is given. */
export interface LoaderContext {
  /** The caller's signal, for the loader to hand on. */
  readonly signal: AbortSignal | undefined
}

/** Loads the value of a missing key. */
export type Loader<T> = (context: LoaderContext) => T | PromiseLike<T>

/** What `Load.step` answers besides the milliseconds to wait before the next step. */
export const LOAD = 0
export const HIT = -1
export const TIMED_OUT = -2

/**
 * One caller's load of one key, as its tiers know it (`spec/semantics.md`, "get_or_set"). Where a tier is a server, the
 * answers are promises; elsewhere they are not, and then nobody waits a turn for them.
 */
export interface Load {
  /** What a `HIT` found. */
  readonly value: unknown
  /** Whether callers that come now may join; with `own` such a caller is its loader. */
  isOpen(own: boolean): boolean
  /**
   * What to do, after waiting for others for some milliseconds. With `beside` the caller does not wait for another's
   * load, but loads beside it.
   */
  step(waited: number, beside?: boolean): number | Promise<number>
  /** Stores what was loaded, and ends the load. `shared` says that others wait for the value, too. */
  fill(value: unknown, ttl: number, shared: boolean): Brought | Promise<Brought>
  /** Ends a load that brings nothing. Does nothing after its end. */
  abandon(): void
}

/** A load that answers at once. */
export interface SyncLoad extends Load {
  step(waited: number, beside?: boolean): number
  fill(value: unknown, ttl: number, shared: boolean): Brought
}

/** What a load brought. */
export interface Brought {
  /** The value of the loader's caller: what a reader would be given. May run the user's code, as `copy` may. */
  readonly own: () => unknown
  /** A value for a caller that joined; its cache has to `finish` it. Absent where no caller waited. */
  readonly copy: (() => unknown) | undefined
  readonly stored: boolean
  /** Why it could not be stored. */
  readonly failure: unknown
}

/** What loads need of the cache whose keys they load: see `AnyNamespace`, which is one. */
export interface Loading<K> {
  readonly handle: Waiting
  /** The value, or undefined for a miss; counts a hit, and no miss. */
  find(key: K): unknown
  /** Like `find` where that does not ask a server, and this does. */
  look?(key: K): Promise<unknown>
  /** Like `look`, for several keys: the values of those that have one, by identity. */
  lookMany?(keys: readonly K[]): Promise<Map<unknown, unknown>>
  load(key: K): Load
  /** Equal, as a Map compares, only for equal keys of equal namespaces. */
  identity(key: K): unknown
  /** Makes what a load hands to callers that joined a value by this cache's registered types: handles share loads. */
  finish?(value: unknown): unknown
}

/** The same where loads answer at once. */
export interface SyncLoading<K> extends Loading<K> {
  load(key: K): SyncLoad
}

/** How a loader ended; `abandoned` when its caller was aborted meanwhile. */
export type LoadOutcome = 'loaded' | 'failed' | 'abandoned'

/** What a caller asks for, as far as it is watched. */
export interface Watchable {
  readonly namespace: { readonly handle: Waiting }
  readonly loader: unknown
  /** Called when it waits for others, for those who observe the loads of its cache. */
  readonly waits?: (() => void) | undefined
  /** By which it waits for others, if it blocks. */
  readonly sleep?: ((ms: number) => void) | undefined
}

/** Runs what brings a caller its value, and watches it and its loader meanwhile. */
export type Watching = <Q extends Watchable, R>(request: Q, fly: (request: Q) => R) => R

/** What the callers of a handle have in common. */
export interface Waiting extends Reporting {
  /** Absent while nobody observes loads. */
  readonly watch?: Watching | undefined
  /** Callers with the same one join each other's loads. */
  readonly loads: object
  /** Other loads of the same keys in this isolate. */
  siblings?(): readonly object[]
  /** Milliseconds: how old a load may be that is joined, and how long a caller waits for loads of others. */
  readonly leaseTimeout: number
  readonly waitTimeout: number
  readonly counts: { hits: number; misses: number; unstored: number; waitTimeouts: number }
}

/** One `getOrSet` whose key was not there. */
export interface Request<T, K = never> {
  readonly namespace: Loading<K>
  readonly key: K
  readonly loader: Loader<T>
  /** Milliseconds; 0 is for ever. */
  readonly ttl: number
  readonly signal: AbortSignal | undefined
  /** Called when it waits for another caller's load. */
  readonly joined?: () => void
  /** See `Watchable`. */
  readonly waits?: (() => void) | undefined
}

/** The loader of many keys left this one out: `getOrSetMany` has no value for it, `getOrSet` looks for itself. */
export const ABSENT = null

/** What the callers that joined are told: a value, an error, that there is none, or to look for themselves. */
export type Landing = Brought | { readonly error: unknown } | typeof ABSENT | undefined

/** A load that others of this isolate join: only one of them polls. */
export class Flight {
  /** The flights in whose loaders it was asked for. */
  readonly within: readonly Flight[]
  /** On the monotonic clock, when its loader began; infinite while it waits for another process' load. */
  since: number = Number.POSITIVE_INFINITY
  /** Whether no caller joins any more. */
  over = false
  readonly load: Load
  /** Made for the first one: most loads are not joined. */
  #joined: Set<(landing: Landing) => void> | undefined

  constructor(load: Load, within: readonly Flight[]) {
    this.load = load
    this.within = within
  }

  get isJoined(): boolean {
    return !!this.#joined?.size
  }

  /** Whether a caller may join that was asked for in these flights. */
  isOpen(leaseTimeout: number, within: readonly Flight[]): boolean {
    return (
      !this.over &&
      performance.now() - this.since < leaseTimeout &&
      this.load.isOpen(isCalling(this) || within.includes(this))
    )
  }

  /** Tells the callers that joined what came of it. */
  land(landing: Landing): void {
    this.over = true
    this.tell(landing)
  }

  /** The same, and others may join as long as its load is open. */
  tell(landing: Landing): void {
    const joined = this.#joined
    this.#joined = undefined
    for (const told of joined ?? []) told(landing)
  }

  /**
   * What comes of it. A caller that waits for several at once has no `began`, and sees itself how long it has waited.
   * @throws WaitTimeout, the signal's reason
   */
  join(handle: Waiting, signal: AbortSignal | undefined, began?: number): Promise<Landing> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        forget?.()
        signal?.removeEventListener('abort', abort)
        this.#joined?.delete(told)
      }
      const told = (landing: Landing) => {
        leave()
        resolve(landing)
      }
      const abort = () => {
        leave()
        reject((signal as AbortSignal).reason)
      }
      const timeOut = () => {
        leave()
        reject(timedOut(handle))
      }
      const forget =
        began === undefined
          ? undefined
          : after(handle.waitTimeout - (performance.now() - began), timeOut)
      signal?.addEventListener('abort', abort)
      this.#joined ??= new Set()
      this.#joined.add(told)
    })
  }
}

/** The flights of each key, the newest last. */
export type Flights = Map<unknown, Flight[]>

/** By the object that callers that may join share. */
const flights = new WeakMap<object, Flights>()

/** The flights whose loaders are being called now: what these ask for synchronously waits for them. */
export const calling: Flight[] = []

function isCalling(flight: Flight): boolean {
  return calling.length > 0 && calling.includes(flight)
}

/**
 * Makes sure that a loader does not ask for its own key.
 * @throws InvalidArgument
 */
export function checkOthers(flight: Flight, within: readonly Flight[]): void {
  if (isCalling(flight) || within.includes(flight)) {
    throw new InvalidArgument('a loader asks for its own key')
  }
}

/**
 * Calls a loader; its flights are the keys that it may not ask for, and those around it.
 * @throws what it throws
 */
export function call<T>(flights: readonly Flight[], loader: () => T): T {
  const before = calling.length
  for (const flight of flights) calling.push(...flight.within, flight)
  try {
    return loader()
  } finally {
    calling.length = before
  }
}

const NONE: readonly Flight[] = []

/** The flights whose loaders are being called, for a caller that may be asked to wait before its own is. */
export function callingNow(): readonly Flight[] {
  return calling.length === 0 ? NONE : [...calling]
}

/** Brings the value of a key that was missing a moment ago, with one loader on the whole host. */
export function fly<T, K>(request: Request<T, K>): Promise<T> {
  return watched(request, flyOn<T, K>)
}

/** Watches a caller, if anything observes loads. */
export function watched<Q extends Watchable, R>(request: Q, fly: (request: Q) => R): R {
  const { watch } = request.namespace.handle
  return watch ? watch(request, fly) : fly(request)
}

async function flyOn<T, K>(request: Request<T, K>): Promise<T> {
  const { namespace, key, signal, joined } = request
  const { handle } = namespace
  signal?.throwIfAborted()
  const began = performance.now()
  const within = callingNow()
  const name = namespace.identity(key)
  const all = flightsOf(handle.loads)
  for (;;) {
    const flying = all.get(name) ?? []
    const newest = flying.at(-1)
    if (newest?.isOpen(handle.leaseTimeout, within)) {
      checkOthers(newest, within)
      joined?.()
      request.waits?.()
      const landing = await newest.join(handle, signal, began)
      const found = broughtBy(landing, namespace)
      if (found !== undefined) return found.value as T
    } else {
      const own = new Flight(namespace.load(key), within)
      flying.push(own)
      all.set(name, flying)
      try {
        return (await lead(own, flying, request, began)) as T
      } finally {
        // The callers that joined look for themselves, if they have heard nothing yet.
        own.land(undefined)
        flying.splice(flying.indexOf(own), 1)
        if (flying.length === 0) all.delete(name)
      }
    }
    signal?.throwIfAborted()
    // Not as the next flight: where a server is asked, those who waited would come to know what is there one by one.
    const value = namespace.look === undefined ? namespace.find(key) : await namespace.look(key)
    if (value !== undefined) return value as T
  }
}

/**
 * The value that a caller that joined a load got, made for it; undefined when it has to look for itself.
 * @throws what the load failed with
 */
export function broughtBy<K>(
  landing: Landing,
  namespace: Loading<K>,
): { value: unknown } | undefined {
  if (!landing) return undefined
  if ('error' in landing) throw landing.error
  // Missing when it joined while the value was being stored: by a getter of the value.
  if (landing.copy === undefined) return undefined
  namespace.handle.counts.hits++
  const value = landing.copy()
  return { value: namespace.finish === undefined ? value : namespace.finish(value) }
}

/** Waits for another process' load, and loads if there is none, or it takes too long. */
async function lead<T, K>(
  own: Flight,
  flying: readonly Flight[],
  request: Request<T, K>,
  began: number,
): Promise<unknown> {
  const { load } = own
  const { signal, namespace } = request
  try {
    for (;;) {
      const step = load.step(performance.now() - began)
      const next = typeof step === 'number' ? step : await orAbort(step, signal)
      if (next === HIT) return load.value
      if (next === LOAD) {
        // A caller that joined while the server was asked may have come after a change that its answer does not know:
        // what is loaded is no answer to it.
        if (step instanceof Promise && !load.isOpen(false)) own.tell(undefined)
        break
      }
      if (next === TIMED_OUT) throw timedOut(namespace.handle)
      request.waits?.()
      await pause(next, signal)
    }
    return await run(own, flying, request)
  } finally {
    load.abandon()
  }
}

async function run<T, K>(
  own: Flight,
  flying: readonly Flight[],
  request: Request<T, K>,
): Promise<unknown> {
  const { loader, signal, ttl, namespace } = request
  const { handle } = namespace
  own.since = performance.now()
  // Then the callers that wait begin anew: one of them loads beside this one, the others join that.
  const forget = after(handle.leaseTimeout, () => own.land(undefined))
  try {
    const loading = call([own], () => loader({ signal }))
    const value = await (signal === undefined ? loading : orAbort(Promise.resolve(loading), signal))
    const filled = fill(own, flying, handle, value, ttl)
    const brought = filled instanceof Promise ? await filled : filled
    return brought.own()
  } catch (error) {
    // First, because then a caller that joined may load. A caller that cancels has heard of no failure.
    own.load.abandon()
    own.land(signal?.aborted ? undefined : { error })
    throw error
  } finally {
    forget()
  }
}

/**
 * Stores what a flight's loader gave, and tells the callers that wait.
 * @throws what `handOver` does
 */
export function fill(
  own: Flight,
  flying: readonly Flight[],
  handle: Waiting,
  value: unknown,
  ttl: number,
): Brought | Promise<Brought> {
  const shared = flying.some((flight) => flight.isJoined)
  return follow(own.load.fill(value, ttl, shared), (brought) => tell(own, flying, handle, brought))
}

function tell(own: Flight, flying: readonly Flight[], handle: Waiting, brought: Brought): Brought {
  if (brought.failure !== undefined) handOver(handle, brought.failure)
  // A stored value answers every caller that waits for the key.
  for (const flight of brought.stored ? flying : [own]) flight.land(brought)
  return brought
}

/** The flights of the keys of all handles that join each other's loads, by key. */
export function flightsOf(loads: object): Flights {
  let all = flights.get(loads)
  if (all === undefined) {
    all = new Map()
    flights.set(loads, all)
  }
  return all
}

/** The error of a caller that waited for others as long as it may. */
export function timedOut({ counts, waitTimeout }: Waiting): WaitTimeout {
  counts.waitTimeouts++
  return new WaitTimeout(`others loaded for longer than waitTimeout, ${waitTimeout} ms`)
}
