/** Caches for one test: in a folder of its own, closed and removed when the test is over. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Cache, type CacheOptions } from '../../src/index.ts'

/** A new folder. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'polycache-ts-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A cache in a directory; without one, in a new one. A small limit keeps directories small. */
export function open(options: Partial<CacheOptions> = {}): Cache {
  const fresh: Partial<CacheOptions> =
    options.path === undefined ? { path: folder(), limit: '4MiB' } : {}
  const cache = new Cache({ ...fresh, ...options } as CacheOptions)
  onTestFinished(() => cache.closeSync())
  return cache
}
