/** Expired entries are freed though they are not read, and the time that is asked for seldom never stands still. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { CoarseClock, machine } from '../../src/memory/clock.ts'
import { MemoryCache } from '../../src/memory/index.ts'
import { emitted } from '../support/emitted.ts'
import { checkAfterEach, openMemory } from '../support/structure.ts'
import { Timers } from '../support/timers.ts'

checkAfterEach()

/** A cache on the system's clock, which the timers move. */
function open<V = unknown>(options = {}) {
  const timers = new Timers()
  return { timers, ...openMemory<string | number, V>({ clock: undefined as never, ...options }) }
}

describe('expired entries are freed though they are not read', () => {
  test('within a second or so', () => {
    const { cache, timers, check } = open({ ttl: '5s' })
    const told: unknown[] = []
    cache.on('expired', (...what) => told.push(what))
    cache.set('k', [1])
    timers.advance(4999)
    expect(cache.size).toBe(1)
    timers.advance(1001)
    expect([cache.size, cache.bytes, cache.stats().expired]).toEqual([0, 0, 1])
    expect(told).toEqual([['k', [1]]])
    check()
    expect(timers.waiting).toBe(0)
  })

  test('also a shorter one that came after a longer one', () => {
    const { cache, timers } = open()
    cache.set('long', 1, { ttl: '30d' })
    cache.set('short', 1, { ttl: '2s' })
    cache.set('shorter', 1, { ttl: { ms: 1 } })
    timers.advance(1500)
    expect(cache.size).toBe(2)
    timers.advance(2000)
    expect([...cache.keys()]).toEqual(['long'])
    expect(cache.size).toBe(1)
    timers.advance(30 * 86_400_000)
    expect(cache.size).toBe(0)
  })

  test('however many there are, a stride at a time; with those that come meanwhile', () => {
    const { cache, timers, check } = open<number>({ maxEntries: 20_000 })
    for (let key = 0; key < 10_000; key++) cache.set(key, key, { ttl: '1s' })
    timers.advance(1000)
    // One stride is done.
    expect(cache.size).toBeGreaterThan(0)
    expect(cache.size).toBeLessThan(10_000)
    for (let key = 0; key < 100; key++) cache.set(`new ${key}`, key, { ttl: '20s' })
    check()
    timers.advance(100)
    check()
    expect(cache.size).toBe(100)
    expect([...cache.keys()].length).toBe(100)
    timers.advance(22_000)
    expect([cache.size, timers.waiting]).toEqual([0, 0])
  })

  test('when there is no end of them', () => {
    const { cache, timers } = open<number>({ maxEntries: 100_000 })
    for (let second = 0; second < 100; second++) {
      for (let key = 0; key < 20; key++) cache.set(`${second} ${key}`, key, { ttl: '3s' })
      timers.advance(1000)
      expect(cache.size).toBeLessThanOrEqual(20 * 6)
    }
    // One for the sweeper, one for the clock.
    expect(timers.waiting).toBeLessThanOrEqual(2)
  })

  test('what lives on by touch or by being used is not', () => {
    const { cache, timers } = open({ ttl: '5s' })
    cache.set('used', 1, { ttl: null, timeToIdle: '5s' })
    cache.set('touched', 1)
    cache.set('kept', 1)
    cache.set('left', 1)
    cache.touch('kept', null)
    for (let turn = 0; turn < 10; turn++) {
      timers.advance(2000)
      cache.get('used')
      cache.touch('touched')
    }
    expect([...cache.keys()]).toEqual(['used', 'touched', 'kept'])
    expect(cache.size).toBe(3)
    timers.advance(10_000)
    expect(cache.size).toBe(1)
  })

  test('with a listener that throws, the others too, and later ones', () => {
    const codes = emitted()
    const { cache, timers, check } = open({ ttl: '2s' })
    cache.on('expired', () => {
      throw new RangeError('mine')
    })
    cache.set('a', 1)
    cache.set('b', 1)
    // It throws into a timer: nobody could catch that.
    timers.advance(2500)
    check()
    expect([cache.size, codes.length]).toEqual([0, 2])
    cache.set('c', 1)
    timers.advance(5000)
    expect(cache.size).toBe(0)
  })

  test('with a listener that changes the cache', () => {
    const { cache, timers, check } = open({ maxEntries: 100 })
    let again = 3
    cache.on('expired', (key) => {
      check()
      if (key === 'clears') cache.clear()
      if (again-- > 0) cache.set(key, 1, { ttl: '3s' })
      cache.purgeExpired()
      check()
    })
    for (const key of ['a', 'b', 'clears', 'd']) cache.set(key, 1, { ttl: '2s' })
    timers.advance(2500)
    check()
    timers.advance(60_000)
    expect([cache.size, timers.waiting]).toEqual([0, 0])
  })

  test('after a clear nothing is waited for in vain', () => {
    const { cache, timers } = open({ ttl: '2s' })
    cache.set('a', 1)
    cache.clear()
    timers.advance(10_000)
    expect(timers.waiting).toBe(0)
    cache.set('a', 1)
    timers.advance(4000)
    expect(cache.size).toBe(0)
  })

  test('when the clock was set back they come later', () => {
    const { cache, timers, clock } = (() => {
      const timers = new Timers()
      return { timers, ...openMemory({ ttl: '10s' }) }
    })()
    cache.set('k', 1)
    clock.now -= 500
    timers.advance(10_000)
    expect(cache.size).toBe(1)
    clock.now += 10_500
    timers.advance(11_000)
    expect(cache.size).toBe(0)
    clock.now += 1e9
    cache.set('k', 1)
    clock.now += 10_000
    timers.advance(12_000)
    expect(cache.size).toBe(0)
  })

  test('no timer holds the process', () => {
    const { cache, timers } = open()
    for (let turn = 0; turn < 100; turn++) {
      cache.set(turn, 1, { ttl: { ms: 1 + turn } })
      cache.get(turn)
      expect(timers.holding).toBe(0)
      timers.advance(7)
    }
    expect(timers.waiting).toBeGreaterThan(0)
  })
})

describe('in a process of its own', () => {
  const memory = JSON.stringify(new URL('../../src/memory/index.ts', import.meta.url).href)

  function run(program: string, ...flags: string[]): string {
    const source = `const { MemoryCache } = await import(${memory})\n${program}`
    const given = process.versions.bun === undefined ? ['--input-type=module'] : []
    return execFileSync(process.execPath, [...given, ...flags, '-e', source], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      encoding: 'utf8',
      timeout: 60_000,
    })
  }

  test('a cache with times to live lets it end', () => {
    const program = `const cache = new MemoryCache({ ttl: '1h' })
      for (let key = 0; key < 1000; key++) { cache.set('k' + key, key); cache.get('k' + key) }
      console.log(cache.size)`
    expect(run(program)).toBe('1000\n')
  })

  test('a cache that is not held is collected, with its sweeper waiting', () => {
    const collect = process.versions.bun === undefined ? 'globalThis.gc()' : 'Bun.gc(true)'
    const program = `
      function make() {
        const cache = new MemoryCache({ ttl: '1h' })
        cache.on('expired', () => {})
        for (let key = 0; key < 1000; key++) { cache.set('k' + key, { key }); cache.get('k' + key) }
        return new WeakRef(cache)
      }
      const caches = Array.from({ length: 20 }, make)
      let held = 20
      for (let turn = 0; turn < 50 && held > 2; turn++) {
        await new Promise((resolve) => setTimeout(resolve, 10))
        ${collect}
        held = caches.filter((cache) => cache.deref() !== undefined).length
      }
      console.log(held <= 2)`
    const flags = process.versions.bun === undefined ? ['--expose-gc'] : []
    expect(run(program, ...flags)).toBe('true\n')
  })
})

describe('the coarse clock', () => {
  test('is right after each turn of the event loop, however quickly it was asked before', () => {
    const timers = new Timers()
    const clock = new CoarseClock(undefined)
    for (let turn = 0; turn < 200; turn++) {
      for (let read = 0; read < turn; read++) clock.now()
      timers.advance(1 + (turn % 9))
      expect(clock.now()).toBe(Date.now())
    }
  })

  test('is asked seldom by quick reads, and at least every 64 of them', () => {
    const timers = new Timers()
    const { now } = Date
    let looks = 0
    Date.now = () => {
      looks++
      return now()
    }
    machine.now = Date.now
    const clock = new CoarseClock(undefined)
    for (let read = 0; read < 10_000; read++) clock.now()
    expect(looks).toBeGreaterThan(10_000 / 65 - 1)
    expect(looks).toBeLessThan(200)
    timers.compute(1000)
    let stale = 0
    while (clock.now() !== now()) stale++
    expect(stale).toBeLessThan(65)
  })

  test('is asked by each read when reads are rare', () => {
    const timers = new Timers()
    const clock = new CoarseClock(undefined)
    for (let read = 0; read < 1000; read++) clock.now()
    // While a program computes no timer runs. The first reads may see the old time, but then they are rare.
    timers.compute(5)
    for (let read = 0; read < 65; read++) clock.now()
    timers.compute(5)
    for (let read = 0; read < 65; read++) clock.now()
    for (let read = 0; read < 100; read++) {
      timers.compute(2)
      timers.advance(0)
      const time = clock.now()
      timers.compute(2)
      timers.advance(0)
      expect(clock.now()).toBeGreaterThan(time)
    }
  })

  test('goes back with the system', () => {
    const timers = new Timers()
    const clock = new CoarseClock(undefined)
    for (let read = 0; read < 1000; read++) clock.now()
    timers.compute(-100_000)
    for (let read = 0; read < 65; read++) clock.now()
    expect(clock.now()).toBe(Date.now())
  })

  test("a user's is asked each time", () => {
    let time = 0
    const clock = new CoarseClock(() => ++time)
    const seen = Array.from({ length: 100 }, () => clock.now())
    expect(seen).toEqual(Array.from({ length: 100 }, (_, place) => place + 1))
    expect([clock.exactly(), clock.now()]).toEqual([101, 102])
  })

  test('an entry is not served after its expiry in a later turn', () => {
    const timers = new Timers()
    const cache = new MemoryCache({ ttl: { ms: 10 } })
    for (let turn = 0; turn < 100; turn++) {
      cache.set('k', turn)
      for (let read = 0; read < 300; read++) expect(cache.get('k')).toBe(turn)
      timers.advance(9)
      expect(cache.get('k')).toBe(turn)
      for (let read = 0; read < turn; read++) cache.get('k')
      timers.advance(1)
      expect(cache.get('k')).toBeUndefined()
    }
  })
})
