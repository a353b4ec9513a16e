/** Remembers what a function returned, for every process of the machine, for a while. */
import assert from 'node:assert/strict'
import { Cache } from 'polycache'

using cache = new Cache({ path: '.cache', namespace: ['examples', 'memoize.ts'] })
await cache.clear()

let calls = 0
const distance = cache.memoize(
  async (start: string, end: string) => {
    calls++
    return start.length * end.length
  },
  { name: 'distance', ttl: '1h' },
)

console.log(await distance('Oslo', 'Rome'), await distance('Oslo', 'Rome'))
console.log(await distance('Rome', 'Tallinn'))
console.log(`${calls} calls for 3 questions`)
assert.equal(calls, 2)

await distance.forget('Oslo', 'Rome')
await distance('Oslo', 'Rome')
assert.equal(calls, 3)
