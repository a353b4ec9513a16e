/** Metrics for OpenTelemetry, read by the real SDK: `spec/metrics.md` and `spec/metrics.json`. */
import type { Meter } from '@opentelemetry/api'
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  type MetricData,
  MetricReader,
} from '@opentelemetry/sdk-metrics'
import { describe, expect, test } from 'vitest'
import {
  Cache,
  type CacheOptions,
  InvalidArgument,
  MemoryCache,
  WaitTimeout,
} from '../src/index.ts'
import { observe } from '../src/opentelemetry.ts'
import { folder, open as openAt } from './support/caches.ts'
import { COLLECT, runProgram } from './support/program.ts'
import { readSpec } from './support/spec.ts'

interface Instrument {
  readonly name: string
  readonly kind: string
  readonly unit: string
  readonly description: string
  readonly attributes: string[]
  readonly memory_cache?: string[]
}
interface Contract {
  readonly attributes: Record<string, string[] | null>
  readonly boundaries: number[]
  readonly instruments: Instrument[]
}

const CONTRACT = readSpec<Contract>('metrics.json')

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** A meter of its own, and what it collects. */
class Collector {
  readonly #reader = new Reader()
  readonly meter: Meter = new MeterProvider({ readers: [this.#reader] }).getMeter('polycache')

  async metrics(): Promise<MetricData[]> {
    const { resourceMetrics, errors } = await this.#reader.collect()
    expect(errors).toEqual([])
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
  }

  /** Values of counters, and how often histograms were recorded, by name and attributes, without `polycache.`. */
  async values(): Promise<Record<string, number>> {
    const values: Record<string, number> = {}
    for (const { descriptor, dataPoints } of await this.metrics()) {
      for (const { attributes, value } of dataPoints) {
        const words = Object.entries(attributes).map(([word, text]) => `${word.slice(10)}=${text}`)
        const cell = `${descriptor.name.slice(10)}{${words.toSorted().join(',')}}`
        values[cell] = typeof value === 'number' ? value : value.count
      }
    }
    return values
  }
}

const KINDS: Record<string, unknown> = {
  counter: [DataPointType.SUM, true],
  updowncounter: [DataPointType.SUM, false],
  histogram: [DataPointType.HISTOGRAM, undefined],
}
describe.each(['host', 'memory'])('over %s', (tier) => {
  const isHost = tier === 'host'

  function open(options: CacheOptions = {}): Cache {
    return isHost ? openAt(options) : new Cache(options)
  }

  /** A load that is not over until `end` is called. */
  async function slow(cache: Cache, key: string) {
    let end = () => {}
    const loaded = new Promise<number>((resolve) => {
      end = () => resolve(1)
    })
    let began = () => {}
    const begun = new Promise<void>((resolve) => {
      began = resolve
    })
    const loading = cache.getOrSet(key, () => {
      began()
      return loaded
    })
    await begun
    return { end, loading }
  }

  test('instruments and attributes are those of the contract', async () => {
    const collector = collect()
    const { meter } = collector
    const cache = open({ waitTimeout: '5ms' })
    observe(cache, { meter })
    cache.setSync('a', 1)
    cache.getSync('a')
    const { end, loading } = await slow(cache, 'k')
    await expect(cache.getOrSet('k', () => 2)).rejects.toThrow(WaitTimeout)
    end()
    await loading
    const found = new Map((await collector.metrics()).map((one) => [one.descriptor.name, one]))
    for (const wanted of CONTRACT.instruments) {
      const { descriptor, dataPoints, dataPointType, ...of } = found.get(wanted.name) as MetricData
      found.delete(wanted.name)
      expect([descriptor.unit, descriptor.description]).toEqual([wanted.unit, wanted.description])
      const isMonotonic = (of as { isMonotonic?: boolean }).isMonotonic
      expect([dataPointType, isMonotonic]).toEqual(KINDS[wanted.kind])
      for (const { attributes, value } of dataPoints) {
        expect(Object.keys(attributes).toSorted()).toEqual(wanted.attributes.toSorted())
        for (const [word, text] of Object.entries(attributes)) {
          expect(CONTRACT.attributes[word] ?? [text]).toContain(text)
        }
        if (typeof value === 'number') continue
        expect((value as { buckets: { boundaries: number[] } }).buckets.boundaries).toEqual(
          CONTRACT.boundaries,
        )
      }
    }
    expect([...found.keys()]).toEqual([])
  })

  test('counts are those of stats', async () => {
    const collector = collect()
    const cache = open({ namespace: ['shop', 'eu'] })
    observe(cache, { meter: collector.meter })
    const nested = cache.namespace('nested')
    nested.setSync('a', 1)
    nested.setSync('b', 1)
    for (let times = 0; times < 3; times++) nested.getSync('a')
    nested.getSync('absent')
    nested.deleteSync('b')
    const stats = cache.statsSync()
    const values = await collector.values()
    const of = `cache.name=shop::eu`
    const hits = values[`reads{${of},read.outcome=hit,tier=memory}`]
    expect(hits).toBe(stats.memoryHits)
    const atHost = values[`reads{${of},read.outcome=hit,tier=host}`]
    expect(atHost).toBe(isHost ? stats.hits - stats.memoryHits : undefined)
    expect(stats.hits).toBe(3)
    expect(values[`reads{${of},read.outcome=miss,tier=${tier}}`]).toBe(1)
    expect(values[`writes{${of},tier=${tier}}`]).toBe(2)
    expect(values[`deletes{${of},tier=${tier}}`]).toBe(1)
    expect(values[`entries{${of},tier=${tier}}`]).toBe(1)
    expect(values[`usage{${of},tier=${tier}}`]).toBe(stats.bytes)
    expect(values[`limit{${of},tier=${tier}}`]).toBe(stats.limit)
    const causes = isHost ? ['age', 'conflict', 'failed_put'] : ['room']
    for (const cause of causes) {
      expect(values[`evictions{${of},eviction.cause=${cause},tier=${tier}}`]).toBe(0)
    }
  })

  test('loads are told by their outcome', async () => {
    const collector = collect()
    const cache = open()
    observe(cache, { meter: collector.meter })
    await cache.getOrSet('a', async () => 1)
    await cache.getOrSet('a', async () => 1)
    cache.getOrSetSync('b', () => 1)
    const load = (keys: string[]) => keys.map((key): [string, number] => [key, 1])
    await cache.getOrSetMany(['a', 'c', 'd'], load)
    cache.getOrSetManySync(['a', 'e', 'f'], load)
    await cache.namespace('nested').memoize(() => 1, { name: 'f' })()
    const fails = () => {
      throw new Error('planned')
    }
    await expect(cache.getOrSet('x', fails)).rejects.toThrow('planned')
    await expect(cache.getOrSet('x', async () => fails())).rejects.toThrow('planned')
    expect(() => cache.getOrSetSync('x', fails)).toThrow('planned')
    const aborter = new AbortController()
    const aborted = cache.getOrSet('y', () => new Promise(() => {}), { signal: aborter.signal })
    aborter.abort()
    await expect(aborted).rejects.toThrow()
    const values = await collector.values()
    const loads = (outcome: string) =>
      values[`load.duration{cache.name=default,load.outcome=${outcome}}`]
    expect([loads('loaded'), loads('failed'), loads('abandoned')]).toEqual([5, 3, 1])
    expect(Object.keys(values).filter((cell) => cell.startsWith('load.wait.duration'))).toEqual([])
  })

  test('waits that bring a value are told', async () => {
    const collector = collect()
    const cache = open()
    observe(cache, { meter: collector.meter })
    const waits = async () => (await collector.values())['load.wait.duration{cache.name=default}']
    const first = await slow(cache, 'a')
    const joined = cache.getOrSet('a', () => 2)
    const many = cache.getOrSetMany(['a', 'b'], (keys) => keys.map((key) => [key, 1] as const))
    // Its own loader has returned by then.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    first.end()
    expect(await joined).toBe(1)
    expect([...(await many).values()]).toEqual([1, 1])
    expect(await waits()).toBe(2)
  })

  test('waits that bring nothing are told', async () => {
    const collector = collect()
    const cache = open({ waitTimeout: '5ms' })
    observe(cache, { meter: collector.meter })
    const { end, loading } = await slow(cache, 'a')
    await expect(cache.getOrSet('a', () => 2)).rejects.toThrow(WaitTimeout)
    const load = (keys: string[]) => keys.map((key) => [key, 1] as const)
    await expect(cache.getOrSetMany(['a'], load)).rejects.toThrow(WaitTimeout)
    end()
    await loading
    const values = await collector.values()
    expect(values['load.wait.duration{cache.name=default}']).toBe(2)
    expect(values['load.wait.timeouts{cache.name=default}']).toBe(2)
  })

  test('the name is the namespace and covers what is nested', () => {
    expect(open().name).toBe('default')
    const cache = open({ namespace: ['shop', 'eu'] })
    expect([cache.name, cache.namespace('user 17').name]).toEqual(['shop::eu', 'shop::eu'])
    expect(open({ namespace: 'shop', name: '' }).namespace('eu').name).toBe('')
    expect(() => open({ name: 5 as never })).toThrow('name is text')
  })

  test('names tell caches apart', async () => {
    const collector = collect()
    const [first, second] = [open({ name: 'first' }), open()]
    observe(first, { meter: collector.meter })
    observe(second, { meter: collector.meter, name: 'second' })
    first.getSync('absent')
    const values = await collector.values()
    expect(values[`reads{cache.name=first,read.outcome=miss,tier=${tier}}`]).toBe(1)
    expect(values[`reads{cache.name=second,read.outcome=miss,tier=${tier}}`]).toBe(0)
  })

  test('closing ends the metrics and not the cache', async () => {
    const collector = collect()
    const cache = open()
    const observed = observe(cache, { meter: collector.meter })
    const other = observe(cache, { meter: collector.meter, name: 'other' })
    await cache.getOrSet('a', () => 1)
    observed.close()
    observed.close()
    await cache.getOrSet('b', () => 1)
    const values = await collector.values()
    expect(values['load.duration{cache.name=default,load.outcome=loaded}']).toBe(1)
    expect(values['load.duration{cache.name=other,load.outcome=loaded}']).toBe(2)
    expect(values[`writes{cache.name=default,tier=${tier}}`]).toBeUndefined()
    expect(values[`writes{cache.name=other,tier=${tier}}`]).toBe(2)
    other[Symbol.dispose]()
    await cache.getOrSet('c', () => 1)
    expect((await collector.values())['load.duration{cache.name=other,load.outcome=loaded}']).toBe(
      2,
    )
  })

  test('a closed cache yields nothing, and no error', async () => {
    const collector = collect()
    const cache = open()
    observe(cache, { meter: collector.meter })
    cache.closeSync()
    expect(await collector.values()).toEqual({})
    expect(await collector.values()).toEqual({})
  })
})

test('a memory cache has what the contract says', async () => {
  const collector = collect()
  let now = 0
  const cache = new MemoryCache<string, number>({ maxEntries: 2, ttl: '1s', clock: () => now })
  observe(cache, { meter: collector.meter, name: 'objects' })
  for (const key of ['a', 'b', 'c']) cache.set(key, 1)
  cache.get('c')
  cache.get('absent')
  await cache.getOrSet('d', () => 1)
  cache.getOrSetSync('e', () => 1)
  cache.delete('e')
  const begun = await collector.values()
  expect(begun['reads{cache.name=objects,read.outcome=hit,tier=memory}']).toBe(1)
  expect(begun['reads{cache.name=objects,read.outcome=miss,tier=memory}']).toBe(3)
  expect(begun['evictions{cache.name=objects,eviction.cause=room,tier=memory}']).toBe(3)
  expect(begun['deletes{cache.name=objects,tier=memory}']).toBe(1)
  expect(begun['entries{cache.name=objects,tier=memory}']).toBe(1)
  expect(begun['load.duration{cache.name=objects,load.outcome=loaded}']).toBe(2)
  now = 5_000
  cache.purgeExpired()
  expect((await collector.values())['expirations{cache.name=objects,tier=memory}']).toBe(1)
  const names = new Set((await collector.metrics()).map(({ descriptor }) => descriptor.name))
  for (const { name, memory_cache: languages = ['typescript'] } of CONTRACT.instruments) {
    if (name === 'polycache.load.wait.duration') continue // Nobody waited.
    expect([name, names.has(name)]).toEqual([name, languages.includes('typescript')])
  }
})

test('no limit is no number', async () => {
  const collector = collect()
  const cache = new Cache({ memory: { maxBytes: null } })
  observe(cache, { meter: collector.meter })
  const names = (await collector.metrics()).map(({ descriptor }) => descriptor.name)
  expect(names).toContain('polycache.usage')
  expect(names).not.toContain('polycache.limit')
})

test('what is no cache, and no option, is refused', () => {
  expect(() => observe({} as never)).toThrow(InvalidArgument)
  expect(() => observe(new Cache(), { colour: 'red' } as never)).toThrow(
    'there is no option colour',
  )
})

test('an exporter that asks for changes gets changes', async () => {
  const reader = new Reader({ aggregationTemporalitySelector: () => AggregationTemporality.DELTA })
  const meter = new MeterProvider({ readers: [reader] }).getMeter('polycache')
  const cache = new Cache()
  observe(cache, { meter })
  const writes = async () => {
    const { resourceMetrics } = await reader.collect()
    const all = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
    const found = all.find(({ descriptor }) => descriptor.name === 'polycache.writes')
    return found?.dataPoints[0]?.value
  }
  cache.setSync('a', 1)
  cache.setSync('b', 1)
  expect(await writes()).toBe(2)
  cache.setSync('c', 1)
  expect(await writes()).toBe(1)
})

function collect(): Collector {
  return new Collector()
}

test('metrics hold no cache', () => {
  const printed = runProgram(
    `
    const { Cache, MemoryCache } = await source('index.ts')
    const { observe } = await source('opentelemetry.ts')
    const callbacks = new Set()
    const meter = {
      createObservableCounter: () => ({}),
      createObservableUpDownCounter: () => ({}),
      createHistogram: () => ({ record() {} }),
      addBatchObservableCallback: (callback) => callbacks.add(callback),
      removeBatchObservableCallback: (callback) => callbacks.delete(callback),
    }
    const [folder] = process.argv.slice(-1)
    const use = () => {
      for (const cache of [new Cache({ path: folder + '/gone' }), new Cache(), new MemoryCache()]) {
        observe(cache, { meter })
      }
    }
    use()
    // Of this one a nested namespace stays.
    const nested = [new Cache({ path: folder + '/stays' })].map((cache) => {
      observe(cache, { meter })
      return cache.namespace('nested')
    })
    const collect = () => {
      let values = 0
      for (const callback of callbacks) callback({ observe: () => values++ })
      return values > 0
    }
    const before = [collect(), callbacks.size]
    for (let turn = 0; turn < 100 && callbacks.size > 1; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      ${COLLECT}
      collect()
    }
    console.log(JSON.stringify([before, [collect(), callbacks.size], nested.length]))
    process.exit(0)`,
    folder(),
  )
  expect(JSON.parse(printed)).toEqual([[true, 4], [true, 1], 1])
})
