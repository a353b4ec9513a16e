/** A value is loaded once, however many callers and processes ask, until it is deleted. */
import assert from 'node:assert/strict'
import { Cache } from 'polycache'

let loads = 0
/** Stands for your database. */
async function loadPrices(): Promise<Record<string, unknown>> {
  loads++
  return { apple: 120, pear: 90, currency: 'EUR' }
}

using cache = new Cache({ path: '.cache', namespace: ['examples', 'get_or_set.ts'] })
await cache.clear()

// Three callers at once: one loads, the others wait for it without blocking the event loop.
const ask = () => cache.getOrSet('prices', loadPrices, { ttl: '5m' })
const [prices] = await Promise.all([ask(), ask(), ask()])
console.log(prices, `after ${loads} load`)
assert.equal(loads, 1)

await cache.delete('prices')
await ask()
console.log(`${loads} loads after a delete; ${await cache.ttl('prices')} ms to live`)
assert.equal(loads, 2)

// A loader's error is its caller's; nothing is stored, and the next caller loads.
const broken = cache.getOrSet('broken', () => {
  throw new RangeError('no such price')
})
await assert.rejects(broken, RangeError)
assert.equal(await cache.has('broken'), false)

// null is a value; a miss is undefined. Hits can be read without waiting.
await cache.set('discount', null)
assert.equal(cache.getSync('discount'), null)
assert.equal(cache.getSync('absent'), undefined)
