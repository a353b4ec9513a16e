/** getOrSet over a server, as callers of one isolate see it. */
import { describe, expect, test } from 'vitest'
import { type Cache, InvalidArgument, WaitTimeout } from '../../src/index.ts'
import { until } from '../support/redis-server.ts'
import { everywhere, Site } from '../support/remote-caches.ts'

/** Something that a test ends when it wants. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open!: () => void
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}

everywhere((server) => {
  const ways: [string, () => Cache][] = [
    ['copies in memory', () => new Site(server()).open()],
    ['copies in a directory', () => new Site(server()).host()],
    ['reading through', () => new Site(server()).open({ maxStaleness: 0 })],
  ]
  describe.each(ways)('%s', (_, open) => {
    test('callers that come while a loader runs get its value, each its own', async () => {
      const cache = open()
      const { passed, open: go } = gate()
      let loads = 0
      const load = async () => {
        loads++
        await passed
        return { list: [1] }
      }
      const first = cache.getOrSet('k', load)
      await until(() => loads === 1)
      const others = [1, 2, 3].map(() => cache.getOrSet<{ list: number[] }>('k', load))
      go()
      const values = await Promise.all([first, ...others])
      for (const value of values) expect(value).toEqual({ list: [1] })
      expect(new Set(values).size).toBe(4)
    })

    test('a hundred who ask for what is there get it', async () => {
      const cache = open()
      await cache.set('k', 'v')
      const callers = Array.from({ length: 100 }, () => cache.getOrSet('k', () => 'loaded'))
      expect(new Set(await Promise.all(callers))).toEqual(new Set(['v']))
    })

    test('a loader that fails: its caller and those who joined get the error, the next one loads', async () => {
      const cache = open()
      const { passed, open: go } = gate()
      const failure = new Error('no')
      let begun = 0
      const load = async () => {
        begun++
        await passed
        throw failure
      }
      const callers = [cache.getOrSet('k', load)]
      await until(() => begun === 1)
      callers.push(cache.getOrSet('k', load))
      go()
      for (const caller of callers) await caller.catch((error) => expect(error).toBe(failure))
      expect(await cache.getOrSet('k', () => 'next')).toBe('next')
    })

    test('a caller that is aborted leaves the key to the next', async () => {
      const cache = open()
      const stop = new AbortController()
      let begun = false
      const load = () => {
        begun = true
        return new Promise<never>(() => {})
      }
      const aborted = cache.getOrSet('k', load, { signal: stop.signal })
      await until(() => begun)
      stop.abort(new Error('enough'))
      await expect(aborted).rejects.toThrow('enough')
      expect(await cache.getOrSet('k', () => 'next')).toBe('next')
    })

    test('one that is aborted before the server has answered', async () => {
      const cache = open()
      for (let turn = 0; turn < 20; turn++) {
        const stop = new AbortController()
        const one = cache.getOrSet('k', () => 'late', { signal: stop.signal })
        const many = cache.getOrSetMany(['a', 'b'], () => [], { signal: stop.signal })
        stop.abort(new Error('enough'))
        for (const settled of await Promise.allSettled([one, many])) {
          expect(settled).toMatchObject({ status: 'rejected', reason: new Error('enough') })
        }
      }
      expect(await cache.getOrSet('k', () => 'next')).toBe('next')
    })

    test('a set during the load wins', async () => {
      const cache = open()
      const { passed, open: go } = gate()
      let begun = false
      const loading = cache.getOrSet('k', async () => {
        begun = true
        await passed
        return 'loaded'
      })
      await until(() => begun)
      await cache.set('k', 'set')
      go()
      expect(await loading).toBe('loaded')
      expect(await cache.get('k')).toBe('set')
    })

    test('a loader that asks for its own key is told', async () => {
      const cache = open()
      const own = cache.getOrSet('k', () => cache.getOrSet('k', () => 1))
      await expect(own).rejects.toBeInstanceOf(InvalidArgument)
      const through = cache.getOrSet('k', () =>
        cache.getOrSet('other', () => cache.getOrSetMany(['k'], () => [])),
      )
      await expect(through).rejects.toBeInstanceOf(InvalidArgument)
    })

    test('a caller waits for others for waitTimeout', async () => {
      const site = new Site(server())
      const holder = site.open()
      const cache = site.open({ waitTimeout: '200ms' })
      const { passed, open: go } = gate()
      let begun = false
      const holding = holder.getOrSet('k', async () => {
        begun = true
        await passed
        return 'loaded'
      })
      await until(() => begun)
      await expect(cache.getOrSet('k', () => 'own')).rejects.toBeInstanceOf(WaitTimeout)
      expect((await cache.stats()).waitTimeouts).toBe(1)
      go()
      expect(await holding).toBe('loaded')
    })

    test('beside a load that is older than leaseTimeout one caller loads', async () => {
      const site = new Site(server())
      const holder = site.open({ leaseTimeout: '100ms' })
      const cache = site.open({ leaseTimeout: '100ms' })
      const { passed, open: go } = gate()
      let begun = false
      const holding = holder.getOrSet('k', async () => {
        begun = true
        await passed
        return 'held'
      })
      await until(() => begun)
      expect(await cache.getOrSet('k', () => 'beside')).toBe('beside')
      go()
      expect(await holding).toBe('held')
      expect(await cache.get('k')).toBe('beside')
    })

    test('memoize, and what it forgets', async () => {
      const cache = open()
      let calls = 0
      const square = cache.memoize(
        async (number: number) => {
          calls++
          return number * number
        },
        { name: 'square' },
      )
      expect([await square(3), await square(3), calls]).toEqual([9, 9, 1])
      expect(await square.forget(3)).toBe(true)
      expect([await square(3), calls]).toEqual([9, 2])
    })
  })
})
