/** Cached reads of a test, which end with it. */
import { onTestFinished } from 'vitest'
import { type CachedOptions, type CachedReads, cached } from '../../src/reads/index.ts'
import { until } from './redis-server.ts'

let prefixes = 0

/** Options of reads that are apart from those of all other tests. */
export function options(given: CachedOptions = {}): CachedOptions {
  return { prefix: `reads-${process.pid}-${prefixes++}`, timeout: '5s', ...given }
}

export function open<C extends object>(client: C, given: CachedOptions = {}): CachedReads<C> {
  const reads = cached(client, options(given))
  onTestFinished(() => reads.close())
  return reads
}

/** Waits until a read is kept. */
export async function keeping(
  reads: { stats(): { memoryHits: number } },
  read: () => Promise<unknown>,
): Promise<void> {
  await until(async () => {
    const before = reads.stats().memoryHits
    await read()
    await read()
    return reads.stats().memoryHits > before
  })
}
