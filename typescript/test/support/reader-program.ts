/** Reads the key "k" again and again, and tells what it finds in its memory: see `reader.ts`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { cached } from '../../src/reads/index.ts'

const [port, options, kind] = process.argv.slice(2)
const bun = (globalThis as unknown as { Bun: { RedisClient: new (url: string) => Redis } }).Bun
const client =
  kind === 'bun'
    ? new bun.RedisClient(`redis://127.0.0.1:${port}`)
    : new Redis({ port: Number(port) })
const reads = cached(client, JSON.parse(options))
for (;;) {
  const before = reads.stats().memoryHits
  const value = await reads.get('k')
  if (reads.stats().memoryHits > before) console.log(value)
  await sleep(5)
}
