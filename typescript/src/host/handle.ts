import { Closed } from '../errors.ts'
import type { OpenOptions } from './native.ts'
import { HostStore } from './store.ts'

/** What one handle did, counted where it is done: hits in the mapping are seen by nobody else. */
export interface Counts {
  hits: number
  misses: number
  writes: number
  deletes: number
  voidedFills: number
}

/** An open cache: what a `Cache` and the caches of its namespaces share. */
export class Handle {
  readonly store: HostStore
  readonly counts: Counts = { hits: 0, misses: 0, writes: 0, deletes: 0, voidedFills: 0 }
  readonly clock: (() => number) | undefined
  /** Milliseconds that a load may take before another caller may load the same key. */
  readonly leaseTimeout: number
  closed = false

  constructor(options: OpenOptions, clock: (() => number) | undefined) {
    this.store = HostStore.open(options)
    this.clock = clock
    this.leaseTimeout = options.leaseTimeout
  }

  /** @throws Closed */
  check(): void {
    if (this.closed) throw new Closed('the cache was closed; open another')
  }

  /** Tells a store with a clock of its own what time it is. */
  setTime(): void {
    if (this.clock !== undefined) this.store.native.setClock(this.clock())
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    this.store.release()
  }
}
