import { InvalidArgument } from './errors.ts'
import {
  type Brought,
  call,
  callingNow,
  checkOthers,
  Flight,
  type Flights,
  fill,
  flightsOf,
  HIT,
  LOAD,
  type LoaderContext,
  type SyncLoading,
  TIMED_OUT,
  timedOut,
  type Waiting,
  watched,
} from './flight.ts'

/** Loads the value of a missing key, synchronously. */
export type SyncLoader<T> = (context: LoaderContext) => T

/** One `getOrSetSync` whose key was not there. */
export interface SyncRequest<T, K> {
  readonly namespace: SyncLoading<K>
  readonly key: K
  readonly loader: SyncLoader<T>
  /** Milliseconds; 0 is for ever. */
  readonly ttl: number
  /** Waits without the event loop for some milliseconds; absent where no other thread can end a load. */
  readonly sleep: ((ms: number) => void) | undefined
}

/**
 * Brings the value of a key that was missing a moment ago, before it returns. It waits for another process' load; a
 * load of this isolate could not go on meanwhile, so this caller loads beside it.
 */
export function flySync<T, K>(request: SyncRequest<T, K>): T {
  return watched(request, flySyncOn<T, K>)
}

function flySyncOn<T, K>(request: SyncRequest<T, K>): T {
  const { namespace, key, sleep } = request
  const { handle } = namespace
  const all = flightsOf(handle.loads)
  const name = namespace.identity(key)
  const flying = all.get(name) ?? []
  const newest = flying.at(-1)
  const within = callingNow()
  if (newest?.isOpen(handle.leaseTimeout, within)) checkOthers(newest, within)
  const beside = sleep === undefined || isLoadedHere(handle, name)
  const began = performance.now()
  const load = namespace.load(key)
  try {
    for (;;) {
      const next = load.step(performance.now() - began, beside)
      if (next === HIT) return load.value as T
      if (next === TIMED_OUT) throw timedOut(handle)
      if (next === LOAD) break
      sleep?.(next)
    }
    const own = begin(new Flight(load, within), name, all, flying)
    try {
      return run(own, flying, request)
    } finally {
      end(own, name, all, flying)
    }
  } finally {
    load.abandon()
  }
}

/** Whether a loader of this isolate runs for a key, whose value may still be stored. */
export function isLoadedHere(handle: Waiting, name: unknown): boolean {
  return [handle.loads, ...(handle.siblings?.() ?? [])].some((loads) =>
    flightsOf(loads)
      .get(name)
      ?.some(({ since, load }) => since !== Number.POSITIVE_INFINITY && load.isOpen(false)),
  )
}

/** Lists a flight whose loader is about to run. */
export function begin(own: Flight, name: unknown, all: Flights, flying: Flight[]): Flight {
  own.since = performance.now()
  flying.push(own)
  all.set(name, flying)
  return own
}

/** Takes a flight from the list. The callers that joined look for themselves, if they have heard nothing yet. */
export function end(own: Flight, name: unknown, all: Flights, flying: Flight[]): void {
  own.land(undefined)
  const at = flying.indexOf(own)
  if (at >= 0) flying.splice(at, 1)
  if (flying.length === 0 && all.get(name) === flying) all.delete(name)
}

/**
 * The result of a synchronous loader, or of another function, whose asynchronous twin is for another method.
 * @throws InvalidArgument for a promise
 */
export function given<T>(value: T, whose = 'loader', twin = 'getOrSet'): T {
  const then = (value as { then?: unknown } | null | undefined)?.then
  if (typeof then !== 'function') return value
  // Its result is not needed.
  Promise.resolve(value).catch(() => {})
  throw new InvalidArgument(
    `the ${whose} returned a promise: a synchronous one returns the value itself, an asynchronous one is for ${twin}`,
  )
}

function run<T, K>(
  own: Flight,
  flying: readonly Flight[],
  { loader, namespace, ttl }: SyncRequest<T, K>,
): T {
  const value = given(call([own], () => loader({ signal: undefined })))
  // A load that answers at once.
  const brought = fill(own, flying, namespace.handle, value, ttl) as Brought
  return brought.own() as T
}
