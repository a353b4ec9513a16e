/** Who may join a load while a server is asked whether it is theirs: `lead` in `src/flight.ts`, with a server that a test plays. */
import { expect, test } from 'vitest'
import { fly, LOAD, type Load, type Loading } from '../../src/flight.ts'

/** A key on a server that answers when the test says so. */
class Played {
  value: string | undefined
  /** Loads that began before the last change are open no more. */
  changes = 0
  answer!: () => void
  looks = 0
  readonly namespace: Loading<string> = {
    handle: {
      loads: {},
      leaseTimeout: 30_000,
      waitTimeout: 60_000,
      storeErrors: 'report',
      reported: new Set(),
      counts: { hits: 0, misses: 0, unstored: 0, waitTimeouts: 0 },
    },
    // Reads go through to the server.
    find: () => undefined,
    look: async () => {
      this.looks++
      return this.value
    },
    identity: (key) => key,
    load: () => this.#load(),
  }

  change(value: string): void {
    this.value = value
    this.changes++
  }

  getOrSet(loader: () => string | Promise<string>): Promise<string> {
    const request = { namespace: this.namespace, key: 'k', loader, ttl: 0, signal: undefined }
    return fly<string, string>(request)
  }

  #load(): Load {
    const began = this.changes
    let asks = false
    return {
      value: undefined,
      isOpen: () => asks || began === this.changes,
      step: async () => {
        asks = true
        await new Promise<void>((resolve) => {
          this.answer = resolve
        })
        asks = false
        return LOAD
      },
      fill: (value) => ({
        own: () => value,
        copy: () => value,
        stored: began === this.changes,
        failure: undefined,
      }),
      abandon: () => {},
    }
  }
}

test('a caller that comes after a change is not given what a load brings that was asked for before', async () => {
  const key = new Played()
  const first = key.getOrSet(() => 'loaded')
  // The server has granted the load, and its answer is under way; then this process sets the key.
  key.change('set')
  const late = key.getOrSet(() => 'loaded, too')
  key.answer()
  expect(await first).toBe('loaded')
  expect(await late).toBe('set')
  expect(key.looks).toBe(1)
})

test('without a change it gets the loaded value', async () => {
  const key = new Played()
  const first = key.getOrSet(() => 'loaded')
  const second = key.getOrSet(() => 'loaded, too')
  key.answer()
  expect(await Promise.all([first, second])).toEqual(['loaded', 'loaded'])
  expect(key.looks).toBe(0)
})
