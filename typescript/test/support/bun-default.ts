/** Uses Bun's default client, as a cache's server and for cached reads, and tells what it found: see `remote/bun.test.ts`. */
import { Cache } from '../../src/index.ts'
import { cached } from '../../src/reads/index.ts'
import { keeping } from './cached-reads.ts'

// biome-ignore lint/suspicious/noExplicitAny: the types are Bun's
const { redis } = (globalThis as any).Bun
const prefix = process.argv[2]
const cache = new Cache({ remote: redis, prefix, timeout: '5s' })
await cache.set('key', 'value')
// biome-ignore lint/suspicious/noExplicitAny: the types are Bun's
const reads = cached(redis, { prefix, timeout: '5s' }) as any
await keeping(reads, () => reads.get('k'))
const listed = String(await redis.send('CLIENT', ['LIST'])).trim()
const users = [...new Set(listed.split('\n').map((line) => / user=(\S+)/.exec(line)?.[1]))]
console.log(
  JSON.stringify({ users, read: await reads.get('k'), keys: (await redis.keys('*')).sort() }),
)
process.exit()
