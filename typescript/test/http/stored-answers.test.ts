/** `spec/http/stored-answers.json`: what stands in a cache of answers, which programs in other languages read, too. */
import { expect, test } from 'vitest'
import { type ResponseCacheOptions, responseCache } from '../../src/http/index.ts'
import { Cache } from '../../src/index.ts'
import { camel } from '../support/http-cases.ts'
import { readSpec } from '../support/spec.ts'

interface Case {
  readonly name: string
  readonly options?: Record<string, unknown>
  readonly before?: Record<string, string>
  readonly at: number
  readonly request: {
    readonly target?: string
    readonly host?: string
    readonly headers?: Record<string, string>
  }
  readonly origin: {
    readonly status: number
    readonly headers: Record<string, string>
    readonly body: string
  }
  readonly key: string
  readonly stored: { readonly body?: string; readonly fields?: [string, string][] }
}

const { cases } = readSpec<{ cases: Case[] }>('http/stored-answers.json')

test.each(cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
  const now = Date.UTC(2026, 0, 1) + one.at * 1000
  const clock = () => now
  const { host = 'test.example', target = '/', headers = {} } = one.request
  const options = camel<ResponseCacheOptions>(one.options)
  const { origin, key, before = {} } = one
  const { body } = one.stored
  const stored = body === undefined ? one.stored : { ...one.stored, body: Buffer.from(body) }
  let asked = 0
  const handler = () => {
    asked++
    return new Response(origin.body, origin)
  }
  const ask = async (cache: Cache) => {
    const answer = responseCache(cache, handler, { ...options, clock })
    return answer(new Request(`http://${host}${target}`, { headers }))
  }

  const writing = new Cache({ clock })
  await writing.setMany(Object.entries(before))
  await ask(writing)
  expect([...writing.keys()].sort()).toEqual([...Object.keys(before), key].sort())
  const found = await writing.get(key)
  expect(JSON.stringify(plain(found))).toEqual(JSON.stringify(plain(stored)))
  writing.close()

  const reading = new Cache({ clock })
  await reading.setMany(Object.entries(before))
  await reading.set(key, stored)
  asked = 0
  const response = await ask(reading)
  expect([response.status, await response.text()]).toEqual([origin.status, origin.body])
  expect(asked).toBe(body === undefined ? 1 : 0)
  for (const [name, value] of one.stored.fields ?? [])
    if (name !== 'vary') expect([name, response.headers.get(name)]).toEqual([name, value])
  reading.close()
})

/** With the body as text. */
function plain(stored: unknown): unknown {
  const { body, ...others } = stored as { readonly body?: Uint8Array }
  return { ...others, body: body && Buffer.from(body).toString() }
}
