/** Remembers what a function returned, for every process of the machine, for a while. */
import assert from 'node:assert/strict'
import { Cache, type Duration } from 'polycache'

function memoize<A extends unknown[], R>(
  cache: Cache,
  ttl: Duration,
  work: (...args: A) => R | Promise<R>,
): (...args: A) => Promise<R> {
  const answers = cache.namespace(work.name)
  return (...args) => answers.getOrSet(JSON.stringify(args), () => work(...args), { ttl })
}

using cache = new Cache({ path: '.cache', namespace: ['examples', 'memoize.ts'] })
await cache.clear()

let calls = 0
const distance = memoize(cache, '1h', async function distance(start: string, end: string) {
  calls++
  return start.length * end.length
})

console.log(await distance('Oslo', 'Rome'), await distance('Oslo', 'Rome'))
console.log(await distance('Rome', 'Tallinn'))
console.log(`${calls} calls for 3 questions`)
assert.equal(calls, 2)
