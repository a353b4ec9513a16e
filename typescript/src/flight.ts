import type { Lease, Payload, Token } from './keyspace.ts'
import { orAbort, patience, pause } from './wait.ts'

/** What a loader is given. */
export interface LoaderContext {
  /** The caller's signal, for the loader to hand on. */
  readonly signal: AbortSignal | undefined
}

/** What makes the value of a key that is not there. */
export type Loader<T> = (context: LoaderContext) => T | PromiseLike<T>

/** What loads need of the cache whose keys they load: see `Keyspace`, which is one. */
export interface Loading<K> {
  readonly handle: { readonly leaseTimeout: number; readonly loads: object }
  peek(key: K): unknown
  lease(key: K): Lease
  fill(key: K, token: Token, value: unknown, ttl: number, copy: boolean): Payload | undefined
  release(token: Token): void
  stands(token: Token): boolean
  read(payload: Payload): unknown
  /** What is equal for equal keys of equal namespaces only, as a Map compares. */
  identity(key: K): unknown
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
}

/**
 * What this isolate does for a key that is not there: it waits for another process's load, or it loads. Callers that come
 * meanwhile join it, so that one of them polls and none does what another one does already.
 */
class Flight {
  /** The lease while this isolate loads. */
  token: Token | undefined
  joiners = 0
  /** Whether it is over, or its load takes longer than others are asked to wait. */
  over = false
  readonly landed: Promise<Payload | undefined>
  /** Ends the flight, with what it loaded, or with nothing: then the joiners look for themselves. */
  land!: (payload: Payload | undefined) => void

  constructor() {
    this.landed = new Promise((resolve) => {
      this.land = (payload) => {
        this.over = true
        resolve(payload)
      }
    })
  }

  /**
   * Whether a caller that comes now may have what this flight brings. Not when the key was deleted, set or cleared since
   * the load began: the load may have seen what was there before.
   */
  isOpen(namespace: Loading<never>): boolean {
    return !this.over && (this.token === undefined || namespace.stands(this.token))
  }
}

/** The flights by key of those that share them. */
const flights = new WeakMap<object, Map<unknown, Flight>>()

/** Brings the value of a key that was not there a moment ago, with one loader on the whole host. */
export async function fly<T, K>(request: Request<T, K>): Promise<T> {
  const { namespace, key, signal } = request
  signal?.throwIfAborted()
  const flying = flightsOf(namespace.handle.loads)
  const name = namespace.identity(key)
  for (;;) {
    const flight = flying.get(name)
    if (flight?.isOpen(namespace)) {
      flight.joiners++
      request.joined?.()
      const payload = await orAbort(flight.landed, signal)
      if (payload !== undefined) return namespace.read(payload) as T
      // What it waited for is there, or it failed: then this caller's own loader is the next.
    } else {
      const own = new Flight()
      flying.set(name, own)
      try {
        return await lead(own, request)
      } finally {
        own.land(undefined)
        if (flying.get(name) === own) flying.delete(name)
      }
    }
    signal?.throwIfAborted()
    const value = namespace.peek(key)
    if (value !== undefined) return value as T
  }
}

/** Waits for another process's load, and loads when there is none. */
async function lead<T, K>(flight: Flight, request: Request<T, K>): Promise<T> {
  const { namespace, key, loader, signal } = request
  const began = performance.now()
  for (;;) {
    const lease = namespace.lease(key)
    switch (lease.state) {
      case 'hit':
        return lease.value as T
      case 'acquired':
        return load(flight, lease.token, request)
      case 'bypass':
        return orAbort(Promise.resolve(loader({ signal })), signal)
      case 'busy':
        await pause(patience(performance.now() - began), signal)
    }
  }
}

async function load<T, K>(flight: Flight, token: Token, request: Request<T, K>): Promise<T> {
  const { namespace, key, loader, ttl, signal } = request
  flight.token = token
  // When the lease is old enough for others to take it, those who wait here may do so too.
  const late = setTimeout(() => flight.land(undefined), namespace.handle.leaseTimeout)
  // A number in browsers.
  if (typeof late === 'object') late.unref()
  try {
    const value = await orAbort(Promise.resolve(loader({ signal })), signal)
    flight.land(namespace.fill(key, token, value, ttl, flight.joiners > 0))
    return value
  } finally {
    clearTimeout(late)
    // Does nothing after a fill. After a failure the next caller, here or in another process, loads.
    namespace.release(token)
  }
}

function flightsOf(loads: object): Map<unknown, Flight> {
  let all = flights.get(loads)
  if (all === undefined) {
    all = new Map()
    flights.set(loads, all)
  }
  return all
}
