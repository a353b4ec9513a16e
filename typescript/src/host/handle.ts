import { type AnyHandle, type Counts, noCounts } from '../any-namespace.ts'
import type { Types } from '../entry/registered.ts'
import type { Watching } from '../flight.ts'
import type { Lock } from '../lease.ts'
import type { ResolvedMemory } from '../memory/options.ts'
import { MemoryOverHost } from '../memory/over-host.ts'
import type { Bounds } from '../memory/policy.ts'
import { Closed } from '../more-errors.ts'
import type { WaitingOptions } from '../options.ts'
import type { MachineStats, Usage } from '../stats.ts'
import type { StoreErrors } from '../unstored.ts'
import { guarded, type OpenOptions, typed } from './native.ts'
import { HostStore } from './store.ts'

/** One in so many operations looks whether the directory was replaced. */
const LOOK_EVERY = 1024
/** Operations that are not yet part of what the machine counts, at most. */
const MOST_UNREPORTED = 256

/** What caches that were not closed had open: else their descriptors and mappings would stay until the process ends. */
const unreachable = new FinalizationRegistry<HostStore>((store) => store.release())

/** An open cache: what a `Cache` and the caches of its namespaces share. */
export class Handle implements AnyHandle {
  readonly store: HostStore
  readonly counts: Counts = noCounts()
  /** What was counted, but for hits of the memory tier. */
  operations = 0
  /** At so many operations `report` is due. */
  due = 1
  /** What was reported. */
  #reported: number[] = []
  /** Looks at the path that were made. */
  #looks = 0
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
    const report = () => this.report()
    this.memory = mapping && memory && new MemoryOverHost(mapping, memory, clock, types, report)
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

  /** An operation was counted. */
  operated(): void {
    if (++this.operations >= this.due) this.report()
  }

  /**
   * Adds what was counted since the last time to what the machine counts: a handle's first operations at once, later ones
   * when they are a sixteenth of all, and 256 at the latest. Looks whether the files are still those of the path, once in
   * so many operations.
   */
  report(): void {
    const { hits, misses, writes, deletes, invalidatedLoads, unstored, waitTimeouts } = this.counts
    const memoryHits = this.memory?.hits ?? 0
    const loads = [invalidatedLoads, unstored, waitTimeouts]
    const now = [memoryHits, hits, misses, writes, deletes, ...loads]
    const { native } = this.store
    native.addCounts(now.map((count, place) => count - (this.#reported[place] ?? 0)))
    this.#reported = now
    const { operations } = this
    const looks = Math.floor(operations / LOOK_EVERY)
    if (looks !== this.#looks) native.look()
    this.#looks = looks
    const more = Math.min(Math.max(operations >> 4, 1), MOST_UNREPORTED)
    this.due = Math.min(operations + more, (looks + 1) * LOOK_EVERY)
  }

  machineStats(): MachineStats {
    this.check()
    this.report()
    return guarded(() => this.store.native.machineStats())
  }

  async usage(most: number): Promise<Usage[]> {
    this.check()
    this.setTime()
    return this.store.native.usage(most).catch((failure: unknown) => {
      throw typed(failure)
    })
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
    this.report()
    this.closed = true
    // The store may stay open for other handles.
    for (const lock of this.locks) lock.release()
    unreachable.unregister(this)
    this.memory?.close()
    this.store.release()
  }
}
