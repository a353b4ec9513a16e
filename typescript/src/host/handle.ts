import { type AnyHandle, type Counts, noCounts } from '../any-namespace.ts'
import type { Types } from '../entry/registered.ts'
import type { Watching } from '../flight.ts'
import type { Lock } from '../lease.ts'
import type { ResolvedMemory } from '../memory/options.ts'
import { MemoryOverHost } from '../memory/over-host.ts'
import type { Bounds } from '../memory/policy.ts'
import { Closed } from '../more-errors.ts'
import type { WaitingOptions } from '../options.ts'
import type { StoreErrors } from '../unstored.ts'
import type { OpenOptions } from './native.ts'
import { HostStore } from './store.ts'

/** What caches that were not closed had open: else their descriptors and mappings would stay until the process ends. */
const unreachable = new FinalizationRegistry<HostStore>((store) => store.release())

/** An open cache: what a `Cache` and the caches of its namespaces share. */
export class Handle implements AnyHandle {
  readonly store: HostStore
  readonly counts: Counts = noCounts()
  /** Reads of the host tier, hits or not. */
  lookUps = 0
  readonly clock: (() => number) | undefined
  /** Absent if it is not wanted, or if JavaScript does not see the mapping. */
  readonly memory: MemoryOverHost | undefined
  readonly leaseTimeout: number
  readonly waitTimeout: number
  readonly storeErrors: StoreErrors
  readonly reported: Set<string> = new Set()
  readonly bounds: Bounds | undefined
  /** Those that it has. */
  readonly locks: Set<Lock> = new Set()
  watch: Watching | undefined
  closed = false

  constructor(
    options: OpenOptions,
    clock: (() => number) | undefined,
    memory: ResolvedMemory | undefined,
    waiting: WaitingOptions,
    types: Types | undefined,
  ) {
    this.store = HostStore.open(options)
    this.clock = clock
    const { mapping } = this.store
    this.memory = mapping && memory && new MemoryOverHost(mapping, memory, clock, types)
    this.leaseTimeout = waiting.leaseTimeout
    this.waitTimeout = waiting.waitTimeout
    this.storeErrors = waiting.storeErrors
    this.bounds = this.memory && memory?.bounds
    unreachable.register(this, this.store, this)
  }

  /** All handles on the directory in this isolate. */
  get loads(): object {
    return this.store
  }

  siblings(): readonly object[] {
    return this.store.siblings()
  }

  counted(): Counts & { memoryHits: number } {
    const memoryHits = this.memory?.hits ?? 0
    return { ...this.counts, hits: this.counts.hits + memoryHits, memoryHits }
  }

  /** @throws Closed */
  check(): void {
    if (this.closed) throw new Closed('the cache was closed; open another')
  }

  /** Sets the time of a store with its own clock. */
  setTime(): void {
    if (this.clock !== undefined) this.store.native.setClock(this.clock())
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    // The store may stay open for other handles.
    for (const lock of this.locks) lock.release()
    unreachable.unregister(this)
    this.memory?.close()
    this.store.release()
  }
}
