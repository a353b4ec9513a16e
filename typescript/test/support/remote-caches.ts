/** Caches on a server, closed when their test is over; each with a directory of its own is a host. */
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { Cache, type CacheOptions } from '../../src/index.ts'
import { folder } from './caches.ts'
import { PROGRAMS, RedisServer, until } from './redis-server.ts'

let prefixes = 0

/** What the caches of one test have in common: tests share servers, so each has keys of its own. */
export class Site {
  readonly server: { readonly url: string }
  readonly prefix: string = `test-${process.pid}-${prefixes++}`

  constructor(server: { readonly url: string }) {
    this.server = server
  }

  /** A cache without a directory: its copies are in memory. */
  open(options: Partial<CacheOptions> = {}): Cache {
    // Machines are slow at times, and a command that waits for its turn is no fault.
    const cache = new Cache({
      remote: this.server.url,
      prefix: this.prefix,
      timeout: '5s',
      ...options,
    })
    onTestFinished(() => cache.close())
    return cache
  }

  /** A cache with a directory of its own. */
  host(options: Partial<CacheOptions> = {}): Cache {
    return this.open({ path: folder(), limit: '4MiB', ...options })
  }

  /** What a key is called on the server. */
  key(name: string): string {
    return `${this.prefix}:::${name}`
  }
}

/** Waits until a cache serves copies. */
export async function listening(cache: Cache): Promise<Cache> {
  await until(async () => {
    await cache.get('anything')
    return cache.remoteStats()?.listens
  })
  return cache
}

/** The same tests on every server that is installed; `of` gives the server while they run. */
export function everywhere(tests: (of: () => RedisServer) => void): void {
  for (const program of PROGRAMS) {
    describe(program, () => {
      let server: RedisServer
      beforeAll(async () => {
        server = await RedisServer.start(program)
      })
      afterAll(() => server.stop())
      tests(() => server)
    })
  }
}

/** A server of one test, which may do with it what it wants. */
export async function ownServer(...options: string[]): Promise<RedisServer> {
  const server = await RedisServer.start(PROGRAMS[0], ...options)
  onTestFinished(() => server.stop())
  return server
}

/** Whether there is one to be started. */
export const hasServer: boolean = PROGRAMS.length > 0
