/** Run times whose Response is not their own, as Hono's server for Node has it: it keeps what it is given. */
import { afterEach, expect, test } from 'vitest'
import { Representation } from '../../src/http/index.ts'
import { respondWith } from '../../src/http/web.ts'

const ADA = '{"value":[1,2,3],"who":"ada"}'
const BOB = '{"value":[1,2,3],"who":"bob"}'
const OWN = Object.getOwnPropertyDescriptor(globalThis, 'Response')!
const OwnResponse = Response
let kept: unknown[] = []

class Keeping {
  constructor(body: unknown) {
    kept.push(body)
  }
}

/** It has the name and the code of the run time's. */
const around = new Proxy(OwnResponse, {
  construct(own, [body, init]) {
    kept.push(body)
    return new own(body, init)
  },
})

class Extending extends Response {
  constructor(body?: unknown) {
    super()
    kept.push(body)
  }
}

async function askTwo(respond: typeof respondWith): Promise<Response[]> {
  const value = new Representation(Buffer.from('[1,2,3]'))
  const request = new Request('http://t/')
  return [
    await respond(value.within('value', { who: 'ada' }), request),
    await respond(value.within('value', { who: 'bob' }), request),
  ]
}

const replace = (by: unknown) =>
  Object.defineProperty(globalThis, 'Response', { value: by, configurable: true, writable: true })

afterEach(() => {
  Object.defineProperty(globalThis, 'Response', OWN)
})

test.each([
  ['another class', Keeping],
  ['a class of its own', Extending],
  ['a proxy', around],
])('%s that keeps what it is given gets bytes that stay', async (name, by) => {
  kept = []
  replace(by)
  const anew = `../../src/http/web.ts?${encodeURIComponent(name)}`
  const early = (await import(/* @vite-ignore */ anew)) as { respondWith: typeof respondWith }
  expect(early.respondWith).not.toBe(respondWith)
  await askTwo(early.respondWith)
  expect(kept.map(String)).toEqual([ADA, BOB])

  replace(OwnResponse)
  const texts = (await askTwo(respondWith)).map((response) => response.text())
  expect(await Promise.all(texts)).toEqual([ADA, BOB])
  kept = []
  replace(by)
  await askTwo(respondWith)
  expect(kept.map(String)).toEqual([ADA, BOB])
})
