/** The endpoint that all programs of this folder mount: a Redis stream as JSON, and when reading it began and ended. */
import { Redis } from 'ioredis'
import { type Endpoint, endpoint, streamRange } from 'polycache/http'
import { cached } from 'polycache/reads'

const KEY = 'OPTIONS:test:STREAM'

const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379')
// The server tells this machine of writes to keys that begin so; a response is at most `maxStaleness` behind.
const reads = cached(redis, { prefixes: ['OPTIONS:'], maxStaleness: '1s' })

export const stream: Endpoint = endpoint(async ({ query }) => {
  const range = streamRange(query) // throws what becomes 400, if `start`, `end` or `count` is wrong
  const start = Date.now()
  const value = await reads.json.xrange(KEY, range.start, range.end, 'COUNT', range.count)
  const end = Date.now()
  // The times do not matter to a client that has the value: it may be answered 304.
  return value.within('value', { start, end, endDate: new Date(end) }, { incidental: true })
})
