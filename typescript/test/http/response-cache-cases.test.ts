/** `spec/http/response-cache.json`: what a response cache stores, and whom it answers with what. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ResponseCacheOptions, responseCache } from '../../src/http/index.ts'
import { Cache } from '../../src/index.ts'
import { camel, checkFields, type ExpectedFields } from '../support/http-cases.ts'
import { readSpec } from '../support/spec.ts'

interface Origin {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

interface Step {
  readonly at: number
  readonly request?: {
    readonly method?: string
    readonly target?: string
    readonly host?: string
    readonly headers?: Record<string, string>
  }
  /** What the handler answers, if it is asked. */
  readonly origin: Origin | 'fails'
  readonly expect: {
    readonly status: number
    readonly asked: number
    readonly body?: string
    readonly headers?: ExpectedFields
  }
}

interface Case {
  readonly name: string
  readonly options?: Record<string, unknown>
  readonly steps: readonly Step[]
}

const { cases } = readSpec<{ cases: Case[] }>('http/response-cache.json')
const START = Date.UTC(2026, 0, 1)

describe.each(['memory', 'directory'])('in a cache in %s', (tier) => {
  test.each(cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    let now = START
    const path = mkdtempSync(join(tmpdir(), 'polycache-http-'))
    const clock = () => now
    const cache = new Cache(tier === 'memory' ? { clock } : { path, clock, limit: '2MiB' })
    try {
      await run(one, cache, clock, (at) => {
        now = START + at * 1000
      })
    } finally {
      cache.close()
      rmSync(path, { recursive: true })
    }
  })
})

async function run(
  one: Case,
  cache: Cache,
  clock: () => number,
  setClock: (seconds: number) => void,
): Promise<void> {
  let origin: Step['origin'] = 'fails'
  let asked = 0
  const refreshing = new Set<Promise<void>>()
  const store = watchingLeases(cache, refreshing)
  const handler = (request: Request) => {
    asked++
    if (origin === 'fails') throw new Error('the origin is down')
    const body = origin.body.replace(/\$\{field:([\w-]+)\}/g, (_, name) => {
      return request.headers.get(name) ?? '-'
    })
    const isEmpty = request.method === 'HEAD' || origin.status === 204
    return new Response(isEmpty ? null : body, origin)
  }
  const options = camel<ResponseCacheOptions>(one.options)
  const answer = responseCache(store, handler, { ...options, clock, onError: () => {} })
  for (const [at, step] of one.steps.entries()) {
    const { method = 'GET', target = '/', host = 'test.example', headers = {} } = step.request ?? {}
    setClock(step.at)
    origin = step.origin
    asked = 0
    const response = await answer(new Request(`http://${host}${target}`, { method, headers }))
    await Promise.all(refreshing)
    const found = { step: at, status: response.status, body: await response.text(), asked }
    expect(found).toEqual({
      step: at,
      status: step.expect.status,
      body: step.expect.body ?? found.body,
      asked: step.expect.asked,
    })
    checkFields(response.headers, step.expect.headers)
  }
}

/** The cache, whose leases tell until when something is fetched behind a stale answer. */
function watchingLeases(cache: Cache, refreshing: Set<Promise<void>>) {
  return {
    get: cache.get.bind(cache),
    entry: cache.entry.bind(cache),
    getOrSet: cache.getOrSet.bind(cache),
    compareAndSet: cache.compareAndSet.bind(cache),
    touch: cache.touch.bind(cache),
    delete: cache.delete.bind(cache),
    deletePrefix: cache.deletePrefix.bind(cache),
    lease(key: string) {
      const lease = cache.lease(key)
      let over = () => {}
      const refresh = new Promise<void>((resolve) => {
        over = resolve
      })
      refreshing.add(refresh)
      return {
        acquire: (wait: boolean) => lease.acquire(wait),
        release: () => lease.release().finally(over),
      }
    },
  }
}
