/** Metrics of caches for OpenTelemetry (`spec/metrics.md`). Needs the package `@opentelemetry/api`. */
import {
  type Attributes,
  type BatchObservableResult,
  type Histogram,
  type Meter,
  metrics,
  type Observable,
} from '@opentelemetry/api'
import { Cache, keysOf } from './cache.ts'
import { InvalidArgument } from './errors.ts'
import type { LoaderContext, LoadOutcome, Watchable, Watching } from './flight.ts'
import type { MemoryCore } from './memory/core.ts'
import { MemoryCache } from './memory/memory-cache.ts'
import { checkNames } from './option-names.ts'

/** Options of `observe`. */
export interface ObserveOptions {
  /** What instruments are made of. Default: the meter `polycache` of the global provider, which is to be set before. */
  readonly meter?: Meter
  /**
   * The attribute `polycache.cache.name`, which caches of one process need to be different. Default: that of the cache;
   * `default` for a `MemoryCache`.
   */
  readonly name?: string
}

/** The metrics of one cache, until they are closed. */
export interface CacheMetrics {
  /** Ends the metrics; closing again does nothing. The cache stays open. */
  close(): void
  /** Closes them at the end of a `using` block. */
  [Symbol.dispose](): void
}

const OPTIONS: ReadonlySet<string> = new Set<keyof ObserveOptions>(['meter', 'name'])

const COUNTERS = {
  'polycache.reads': ['{read}', 'Reads, by what they found and by the tier that answered.'],
  'polycache.writes': ['{write}', 'Entries stored.'],
  'polycache.deletes': ['{delete}', 'Entries deleted.'],
  'polycache.evictions': ['{entry}', 'Entries that left for want of room.'],
  'polycache.expirations': ['{entry}', 'Expired entries removed.'],
  'polycache.load.invalidated': [
    '{load}',
    'Loaded values that were not stored because a write or another load came first.',
  ],
  'polycache.load.unstored': ['{load}', 'Loaded values that could not be stored.'],
  'polycache.load.wait.timeouts': [
    '{caller}',
    'Callers that waited too long for the loads of others.',
  ],
} as const
const UP_DOWN_COUNTERS = {
  'polycache.entries': ['{entry}', 'Entries held.'],
  'polycache.usage': ['By', 'Bytes that the entries take.'],
  'polycache.limit': ['By', 'Bytes that the entries may take.'],
} as const
const LOADS = ['polycache.load.duration', 'Duration of loaders.'] as const
const WAITS = [
  'polycache.load.wait.duration',
  'How long callers waited for the loads of others.',
] as const
const BOUNDARIES = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

type Observed = keyof typeof COUNTERS | keyof typeof UP_DOWN_COUNTERS

/** Hands on one value of an instrument. */
type Report = (instrument: Observed, value: number, tier?: string, more?: Attributes) => void

/** What a cache is observed by: what all caches of its handle have in common. */
interface Subject {
  watch: Watching | undefined
}

/** What reads the statistics of a subject, and hands them on; it returns false for a closed one. */
type Read = (report: Report) => boolean

/** It does not hold the subjects, though these are held by what reads them. */
const reads = new WeakMap<Subject, Read>()
/** Those who hear of the loads of a subject. */
const listeners = new WeakMap<Subject, Set<Listener>>()
const instruments = new WeakMap<Meter, Instruments>()

/**
 * Reports a cache to OpenTelemetry until the result is closed or the cache is gone.
 *
 * A hit costs what it costs without metrics. A collection reads the statistics of the cache once; over a directory that
 * walks its index, which takes the event loop some milliseconds. All namespaces of the handle are reported together, so one call
 * for one of them is enough. Nothing keeps the cache alive, and a closed one has no values any more.
 *
 * ```ts
 * const observed = observe(cache, { name: 'prices' })
 * ```
 *
 * @throws InvalidArgument for what is no cache
 */
export function observe<K, V>(
  cache: Cache | MemoryCache<K, V>,
  options: ObserveOptions = {},
): CacheMetrics {
  checkNames(options, OPTIONS)
  const { meter = metrics.getMeter('polycache') } = options
  const [subject, read, name] = subjectOf(cache)
  if (!reads.has(subject)) reads.set(subject, read)
  const of = instrumentsOf(meter)
  const listener = new Listener(of, options.name ?? name)
  listen(subject, listener)
  return report(meter, of, new WeakRef(subject), listener)
}

/** Has the meter ask for the values of a subject. It closes itself when there are none any more. */
function report(
  meter: Meter,
  { observables }: Instruments,
  held: WeakRef<Subject>,
  listener: Listener,
): CacheMetrics {
  const all = Object.values(observables)
  const callback = (result: BatchObservableResult) => {
    const subject = held.deref()
    const isOpen =
      subject !== undefined &&
      reads.get(subject)?.((instrument, value, tier, more) => {
        const attributes = { ...listener.attributes, ...more }
        if (tier !== undefined) attributes['polycache.tier'] = tier
        result.observe(observables[instrument], value, attributes)
      })
    if (!isOpen) close()
  }
  const close = () => {
    meter.removeBatchObservableCallback(callback, all)
    const subject = held.deref()
    if (subject !== undefined) unlisten(subject, listener)
  }
  meter.addBatchObservableCallback(callback, all)
  return { close, [Symbol.dispose]: close }
}

interface Instruments {
  readonly observables: Record<Observed, Observable>
  readonly loads: Histogram
  readonly waits: Histogram
}

function instrumentsOf(meter: Meter): Instruments {
  let made = instruments.get(meter)
  if (made === undefined) {
    const observables: Partial<Record<Observed, Observable>> = {}
    for (const [name, [unit, description]] of Object.entries(COUNTERS)) {
      observables[name as Observed] = meter.createObservableCounter(name, { unit, description })
    }
    for (const [name, [unit, description]] of Object.entries(UP_DOWN_COUNTERS)) {
      const options = { unit, description }
      observables[name as Observed] = meter.createObservableUpDownCounter(name, options)
    }
    const [loads, waits] = [LOADS, WAITS].map(([name, description]) =>
      meter.createHistogram(name, {
        unit: 's',
        description,
        advice: { explicitBucketBoundaries: BOUNDARIES },
      }),
    ) as [Histogram, Histogram]
    made = { observables: observables as Record<Observed, Observable>, loads, waits }
    instruments.set(meter, made)
  }
  return made
}

/** @throws InvalidArgument */
function subjectOf(cache: unknown): [subject: Subject, read: Read, name: string] {
  if (cache instanceof Cache) {
    const keys = keysOf(cache)
    keys.handle.check()
    return [keys.handle, (report) => readCache(keys, report), cache.name]
  }
  if (cache instanceof MemoryCache) {
    const { core } = cache as unknown as { core: MemoryCore<unknown, unknown> }
    return [core, (report) => readMemory(core, report), 'default']
  }
  throw new InvalidArgument('observe takes a cache')
}

function readCache(keys: ReturnType<typeof keysOf>, report: Report): boolean {
  if (keys.handle.closed) return false
  const stats = { ...keys.handle.counted(), ...keys.holdings() }
  const isHost = keys.path() !== undefined
  const tier = isHost ? 'host' : 'memory'
  read(report, 'memory', 'hit', stats.memoryHits)
  if (isHost) read(report, tier, 'hit', stats.hits - stats.memoryHits)
  read(report, tier, 'miss', stats.misses)
  if (isHost) {
    evicted(report, tier, 'age', stats.evictedByAge)
    evicted(report, tier, 'conflict', stats.evictedByConflict)
    evicted(report, tier, 'failed_put', stats.evictedByFailedPut)
  } else evicted(report, tier, 'room', stats.evictedByAge)
  if (Number.isFinite(stats.limit)) report('polycache.limit', stats.limit, tier)
  report('polycache.load.invalidated', stats.invalidatedLoads)
  readAny(stats, tier, report)
  return true
}

function readMemory({ counts, store }: MemoryCore<unknown, unknown>, report: Report): boolean {
  const tier = 'memory'
  read(report, tier, 'hit', counts.hits)
  read(report, tier, 'miss', counts.misses)
  evicted(report, tier, 'room', counts.evicted)
  readAny({ ...counts, entries: store.live, bytes: store.weight }, tier, report)
  return true
}

/** What every kind of cache counts. */
interface Counted {
  readonly writes: number
  readonly deletes: number
  readonly expired: number
  readonly entries: number
  readonly bytes: number
  readonly unstored: number
  readonly waitTimeouts: number
}

function readAny(stats: Counted, tier: string, report: Report): void {
  report('polycache.writes', stats.writes, tier)
  report('polycache.deletes', stats.deletes, tier)
  report('polycache.expirations', stats.expired, tier)
  report('polycache.entries', stats.entries, tier)
  report('polycache.usage', stats.bytes, tier)
  report('polycache.load.unstored', stats.unstored)
  report('polycache.load.wait.timeouts', stats.waitTimeouts)
}

function read(report: Report, tier: string, outcome: string, value: number): void {
  report('polycache.reads', value, tier, { 'polycache.read.outcome': outcome })
}

function evicted(report: Report, tier: string, cause: string, value: number): void {
  report('polycache.evictions', value, tier, { 'polycache.eviction.cause': cause })
}

/** Records what loads take. */
class Listener {
  readonly attributes: Attributes
  readonly #instruments: Instruments

  constructor(instruments: Instruments, name: string) {
    this.attributes = { 'polycache.cache.name': name }
    this.#instruments = instruments
  }

  loaded(outcome: LoadOutcome, ms: number): void {
    const attributes = { ...this.attributes, 'polycache.load.outcome': outcome }
    this.#instruments.loads.record(ms / 1000, attributes)
  }

  waited(ms: number): void {
    this.#instruments.waits.record(ms / 1000, this.attributes)
  }
}

function listen(subject: Subject, listener: Listener): void {
  const all = listeners.get(subject) ?? new Set()
  listeners.set(subject, all.add(listener))
  subject.watch = (request, fly) => watchedBy(new Stopwatch(all), request, fly)
}

function unlisten(subject: Subject, listener: Listener): void {
  const all = listeners.get(subject)
  all?.delete(listener)
  if (all?.size === 0) subject.watch = undefined
}

/** See `Watching`. */
function watchedBy<Q extends Watchable, R>(watch: Stopwatch, given: Q, fly: (request: Q) => R): R {
  const loader = watch.around(given.loader as (...args: unknown[]) => unknown)
  const waits = () => watch.begins()
  const sleep =
    given.sleep &&
    ((ms: number) => {
      waits()
      given.sleep?.(ms)
    })
  let flying: R
  try {
    flying = fly({ ...given, loader, waits, ...(sleep && { sleep }) })
  } catch (error) {
    watch.ends()
    throw error
  }
  if (flying instanceof Promise) return flying.finally(() => watch.ends()) as R
  watch.ends()
  return flying
}

/** Takes the times of one caller. */
class Stopwatch {
  readonly #listeners: ReadonlySet<Listener>
  #since: number | undefined
  /** Undefined while it has not waited. */
  #waited: number | undefined

  constructor(listeners: ReadonlySet<Listener>) {
    this.#listeners = listeners
  }

  /** The caller waits for others from now on, if it did not before. */
  begins(): void {
    this.#since ??= performance.now()
  }

  /** The caller has what it asked for, or an error. */
  ends(): void {
    this.#pause()
    if (this.#waited === undefined) return
    for (const listener of this.#listeners) listener.waited(this.#waited)
  }

  /** The loader, with an eye on it: the caller waits no more when it is called. */
  around<A extends readonly unknown[], R>(loader: (...args: A) => R): (...args: A) => R {
    return (...args) => {
      this.#pause()
      const { signal } = args.at(-1) as LoaderContext
      const told = this.#load(signal)
      try {
        const loading = loader(...args)
        if (!isThenable(loading)) {
          told('loaded')
          return loading
        }
        return Promise.resolve(loading).then(
          (value) => {
            told('loaded')
            return value
          },
          (error) => {
            told('failed')
            throw error
          },
        ) as R
      } catch (error) {
        told('failed')
        throw error
      }
    }
  }

  /** Begins to take the time of a loader; what is returned is told how that ended, of which the first counts. */
  #load(signal: AbortSignal | undefined): (outcome: LoadOutcome) => void {
    const began = performance.now()
    let isFinished = false
    const told = (outcome: LoadOutcome) => {
      if (isFinished) return
      isFinished = true
      signal?.removeEventListener('abort', abandoned)
      const ms = performance.now() - began
      for (const listener of this.#listeners) listener.loaded(outcome, ms)
    }
    const abandoned = () => told('abandoned')
    signal?.addEventListener('abort', abandoned)
    return told
  }

  #pause(): void {
    if (this.#since === undefined) return
    this.#waited = (this.#waited ?? 0) + performance.now() - this.#since
    this.#since = undefined
  }
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
