/** A response cache with many callers at once, bodies that are too large or break off, and under node:http. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nodeHandler, responseCache } from '../../src/http/index.ts'
import { Cache, InvalidArgument } from '../../src/index.ts'
import { dial, exchange } from '../support/http-exchange.ts'

let cache: Cache
beforeEach(() => {
  cache = new Cache()
})
afterEach(() => cache.close())

const ask = (headers: Record<string, string> = {}, path = '/') =>
  new Request(`http://test.example${path}`, { headers })
const quiet = { onError: () => {} }

/** A handler that waits until it is told to go on. */
function held(respond: (request: Request) => Response) {
  let go = () => {}
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  const asked: Request[] = []
  const handler = async (request: Request) => {
    asked.push(request)
    await gate
    return respond(request)
  }
  return { handler, asked, go }
}

test('many callers at once ask the handler once', async () => {
  const { handler, asked, go } = held(
    () => new Response('page', { headers: { 'cache-control': 'max-age=60' } }),
  )
  const answer = responseCache(cache, handler)
  const answers = Array.from({ length: 30 }, () => answer(ask()))
  go()
  const bodies = await Promise.all(answers.map(async (one) => (await one).text()))
  expect(bodies).toEqual(Array(30).fill('page'))
  expect(asked).toHaveLength(1)
})

test('callers that waited for a private answer get their own', async () => {
  const { handler, go } = held(
    ({ headers }) =>
      new Response(`for ${headers.get('x-user')}`, { headers: { 'cache-control': 'private' } }),
  )
  const answer = responseCache(cache, handler)
  const answers = Array.from({ length: 20 }, (_, user) => answer(ask({ 'x-user': `u${user}` })))
  go()
  const bodies = await Promise.all(answers.map(async (one) => (await one).text()))
  expect(bodies).toEqual(Array.from({ length: 20 }, (_, user) => `for u${user}`))
})

test('callers that waited for a handler that throws ask themselves', async () => {
  const { handler, go } = held(({ headers }) => {
    throw new Error(`no page for ${headers.get('x-user')}`)
  })
  const answer = responseCache(cache, handler, quiet)
  const answers = Array.from({ length: 5 }, (_, user) => answer(ask({ 'x-user': `u${user}` })))
  go()
  const reasons = (await Promise.allSettled(answers)).map((one) => String(Object(one).reason))
  expect(reasons).toEqual(Array.from({ length: 5 }, (_, user) => `Error: no page for u${user}`))
})

test.each([[[]], [['accept-language']]])(
  'a POST ends a load under way, with the fields %j in the key',
  async (vary) => {
    let version = 1
    const { handler, go, asked } = held(
      () => new Response(String(version), { headers: { 'cache-control': 'max-age=60' } }),
    )
    const answer = responseCache(
      cache,
      (request) => {
        if (request.method === 'GET') return handler(request)
        version++
        return new Response('done')
      },
      { vary },
    )
    const before = answer(ask({ 'accept-language': 'de' }))
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const late = version
    await answer(new Request('http://test.example/', { method: 'POST' }))
    go()
    await before
    // Whatever the first caller got, nobody gets it from the cache: it may be of before.
    expect(late).toBe(1)
    const after = await answer(ask({ 'accept-language': 'de' }))
    expect(after.headers.get('cache-status')).toBe('polycache; fwd=miss; stored')
    expect(await after.text()).toBe('2')
  },
)

test.each([[[]], [['accept-language']]])(
  'a POST ends a load in place of a stale answer, with the fields %j in the key',
  async (vary) => {
    let version = 0
    let gate = Promise.resolve()
    let asked = 0
    const handler = async ({ method }: Request) => {
      asked++
      const read = method === 'POST' ? version++ : version
      if (method === 'GET') await gate
      return new Response(String(read), {
        headers: { 'cache-control': 'max-age=0, stale-if-error=60' },
      })
    }
    const answer = responseCache(cache, handler, { vary })
    const got = async () => (await answer(ask())).text()
    expect(await got()).toBe('0')
    let go = () => {}
    gate = new Promise((resolve) => {
      go = resolve
    })
    const before = got()
    while (asked < 2) await new Promise((resolve) => setImmediate(resolve))
    await answer(new Request('http://test.example/', { method: 'POST' }))
    gate = Promise.resolve()
    expect(await got()).toBe('1')
    go()
    expect(await before).toBe('0')
    expect(await got()).toBe('1')
  },
)

test('a GET after a POST does not join a load from before it', async () => {
  let version = 0
  let gate = Promise.resolve()
  const handler = async ({ method }: Request) => {
    const read = method === 'POST' ? version++ : version
    if (method === 'GET') await gate
    return new Response(String(read), { headers: { 'cache-control': 'max-age=60' } })
  }
  let loads = 0
  const store = new Proxy(cache, {
    get(target, name) {
      if (name === 'getOrSet') loads++
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const answer = responseCache(store, handler, { vary: ['accept-language'] })
  const post = () => answer(new Request('http://test.example/', { method: 'POST' }))
  const got = async () => {
    const response = await answer(ask())
    return [await response.text(), response.headers.get('cache-status')]
  }
  const begun = async (times: number) => {
    while (loads < times) await new Promise((resolve) => setImmediate(resolve))
  }
  // Without a change before the load, and with one that all know of.
  for (const old of [0, 2]) {
    let go = () => {}
    gate = new Promise((resolve) => {
      go = resolve
    })
    loads = 0
    const before = [got(), got()]
    await begun(2)
    await post()
    gate = Promise.resolve()
    const after = got()
    await begun(3)
    go()
    expect(await Promise.all(before)).toEqual([
      [`${old}`, 'polycache; fwd=miss; stored'],
      [`${old}`, 'polycache; hit; collapsed'],
    ])
    expect(await after).toEqual([`${old + 1}`, 'polycache; fwd=bypass; detail=changed'])
    expect(await got()).toEqual([`${old + 1}`, 'polycache; fwd=miss; stored'])
    await post()
  }
})

test('an answer that is stored is made outside of the context of its caller', async () => {
  const user = new AsyncLocalStorage<string>()
  let now = 0
  const handler = (request: Request) => {
    const seen = () => `for ${user.getStore()}`
    const path = new URL(request.url).pathname
    const control = path === '/own' ? 'private' : 'max-age=1, stale-while-revalidate=1'
    const headers = { 'cache-control': control, 'x-user': seen() }
    // Called by who reads the body.
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.from(seen()))
        controller.close()
      },
    })
    return new Response(body, { headers })
  }
  const answer = responseCache(cache, handler, { clock: () => now })
  const asked = (path: string, name: string) =>
    user.run(name, async () => {
      const response = await answer(ask({}, path))
      return [response.headers.get('x-user'), await response.text()]
    })
  const nobody = ['for undefined', 'for undefined']
  expect(await asked('/', 'ada')).toEqual(nobody)
  expect(await asked('/', 'bob')).toEqual(nobody)
  // Behind a stale answer, and in place of one that may not be served.
  for (const later of [1500, 3500]) {
    now = later
    expect([await asked('/', 'cyd'), await asked('/', 'dan')]).toEqual([nobody, nobody])
  }
  expect(await asked('/own', 'ada')).toEqual(['for ada', 'for ada'])
})

test('a key of your own, and undefined for what is not cached', async () => {
  let asked = 0
  const handler = () =>
    new Response(String(asked++), { headers: { 'cache-control': 'max-age=60' } })
  const key = ({ url }: Request) => {
    const { pathname } = new URL(url)
    return pathname === '/live' ? undefined : pathname
  }
  const answer = responseCache(cache, handler, { key })
  const body = async (path: string) => (await answer(ask({}, path))).text()
  expect([await body('/a?x=1'), await body('/a?x=2')]).toEqual(['0', '0'])
  expect([await body('/live'), await body('/live')]).toEqual(['1', '2'])
})

test('a key that throws loses no answer to a change that was made', async () => {
  const errors: unknown[] = []
  const key = ({ url }: Request) => new URL(url).searchParams.get('id')!.toLowerCase()
  const options = { key, onError: (error: unknown) => errors.push(error) }
  const answer = responseCache(cache, () => new Response('made', { status: 201 }), options)
  const response = await answer(new Request('http://test.example/', { method: 'POST' }))
  expect([response.status, await response.text()]).toEqual([201, 'made'])
  expect(errors).toEqual([expect.any(TypeError)])
})

test('a body without a length that is too large streams through, and is not stored', async () => {
  let asked = 0
  const handler = () => {
    asked++
    const chunks = Array.from({ length: 50 }, (_, at) => Buffer.alloc(1000, 65 + (at % 26)))
    return new Response(ReadableStream.from(chunks), { headers: { 'cache-control': 'max-age=60' } })
  }
  const answer = responseCache(cache, handler, { maxBody: '10kB' })
  for (let round = 0; round < 2; round++) {
    const body = Buffer.from(await (await answer(ask())).arrayBuffer())
    expect(body.length).toBe(50_000)
    expect(body[49_999]).toBe(65 + (49 % 26))
  }
  // Twice for the first: by the key's fields, then with all.
  expect(asked).toBe(3)
})

test('a body that breaks off, or is shorter than it says, is not stored', async () => {
  const broken = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          controller.error(new Error('connection lost'))
        },
      }),
      { headers: { 'cache-control': 'max-age=60' } },
    )
  const short = () =>
    new Response('abc', { headers: { 'cache-control': 'max-age=60', 'content-length': '5' } })
  for (const handler of [broken, short]) {
    let asked = 0
    const answer = responseCache(
      cache,
      () => {
        asked++
        return handler()
      },
      { ...quiet, key: () => handler.name },
    )
    await Promise.allSettled([answer(ask())])
    const before = asked
    await Promise.allSettled([answer(ask())])
    expect(asked).toBe(before + 1)
  }
})

test('what others wrote under a key is no answer', async () => {
  const handler = () => new Response('page', { headers: { 'cache-control': 'max-age=60' } })
  const answer = responseCache(cache, handler)
  cache.setSync('"http://test.example/"', { status: 200, body: 'forged' })
  expect(await (await answer(ask())).text()).toBe('page')
})

test('what could not be settled under fields in the key is not kept', async () => {
  const cache = new Cache()
  let fails = true
  const store = new Proxy(cache, {
    get(target, name) {
      if (name === 'touch' && fails)
        return async () => {
          throw new Error('no room')
        }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const answer = responseCache(
    store,
    () => new Response('x', { headers: { 'cache-control': 'max-age=60' } }),
    { vary: ['x-a'], onError: () => {} },
  )
  const status = async () =>
    (await answer(new Request('http://test.example/'))).headers.get('cache-status')
  expect(await status()).toBe('polycache; fwd=miss; stored')
  fails = false
  expect(await status()).toBe('polycache; fwd=miss; stored')
  expect(await status()).toBe('polycache; hit')
})

test('where the cache fails, the handler answers the whole request', async () => {
  const handler = ({ method, headers }: Request) =>
    new Response(`${method} for ${headers.get('x-user')}`, {
      headers: { 'cache-control': 'max-age=60' },
    })
  const fails = async () => {
    throw new Error('no cache')
  }
  const none = new Set(['get', 'set', 'entry', 'getOrSet', 'compareAndSet', 'touch', 'delete'])
  const late = new Set(['touch', 'delete', 'compareAndSet'])
  for (const [failing, status] of [
    [none, 'fwd=bypass; detail=cache'],
    [new Set(['getOrSet']), 'fwd=bypass; detail=cache'],
    [late, 'fwd=miss; stored'],
  ] as const) {
    const store = new Proxy(new Cache(), {
      get(target, name) {
        if (failing.has(String(name))) return fails
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const errors: unknown[] = []
    const answer = responseCache(store, handler, { onError: (error) => errors.push(error) })
    const response = await answer(ask({ 'x-user': 'ada' }))
    expect(response.headers.get('cache-status')).toBe(`polycache; ${status}`)
    expect(await response.text()).toBe(failing === late ? 'GET for null' : 'GET for ada')
    expect(errors).toHaveLength(1)
    if (failing === late) {
      const done = await answer(new Request('http://test.example/', { method: 'POST' }))
      expect(await done.text()).toBe('POST for null')
      expect(errors).toHaveLength(2)
    }
  }
})

test('each variant is compressed once', async () => {
  const text = 'page '.repeat(1000)
  const handler = () => new Response(text, { headers: { 'cache-control': 'max-age=60' } })
  const answer = responseCache(cache, handler)
  const first = await answer(ask({ 'accept-encoding': 'gzip' }))
  const second = await answer(ask({ 'accept-encoding': 'gzip' }))
  expect(second.headers.get('content-encoding')).toBe('gzip')
  expect(second.headers.get('etag')).toBe(first.headers.get('etag'))
  const matched = await answer(
    ask({ 'accept-encoding': 'gzip', 'if-none-match': first.headers.get('etag')! }),
  )
  expect(matched.status).toBe(304)
})

test('refuses options that are none', () => {
  const handler = () => new Response('page')
  for (const options of [
    { colour: 'red' },
    { vary: ['a b'] },
    { ttl: 5 },
    { maxBody: -1 },
    { codings: ['lzma'] },
  ]) {
    expect(() => responseCache(cache, handler, options as never)).toThrow(InvalidArgument)
  }
})

test('under node:http: cookies, streams, bodies within limits, hostile hosts, half a body', async () => {
  const errors: unknown[] = []
  const handler = async (request: Request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/echo') return new Response(await request.text())
    if (pathname === '/fails') throw new Error('the password is 1234')
    if (pathname === '/cookies') {
      const response = new Response('set')
      response.headers.append('set-cookie', 'a=1')
      response.headers.append('set-cookie', 'b=2')
      return response
    }
    return new Response(request.url, { headers: { 'cache-control': 'max-age=60' } })
  }
  const served = nodeHandler(responseCache(cache, handler), {
    maxBody: 1000,
    onError: (error) => errors.push(error),
  })
  const server = createServer(served)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    const first = await exchange(port, 'GET /a?b=1')
    expect([first.status, first.body.toString()]).toEqual([200, 'http://test/a?b=1'])
    const second = await exchange(port, 'GET /a?b=1')
    expect(second.fields['cache-status']).toEqual(['polycache; hit'])
    expect(second.fields.age).toHaveLength(1)
    const head = await exchange(port, 'HEAD /a?b=1')
    expect([head.status, head.body.length, head.fields['content-length']]).toEqual([200, 0, ['17']])
    const cookies = await exchange(port, 'GET /cookies')
    expect(cookies.fields['set-cookie']).toEqual(['a=1', 'b=2'])
    const echo = await exchange(port, 'POST /echo', ['Content-Length: 5'], 'hello')
    expect(echo.body.toString()).toBe('hello')
    const large = await exchange(port, 'POST /echo', ['Content-Length: 1001'], 'x'.repeat(1001))
    expect([large.status, JSON.parse(large.body.toString()).limit]).toEqual([413, 1000])
    for (const host of ['a/../b', 'a b', 'a@b', 'a?b', '[::1', ''])
      expect([host, (await exchange(port, 'GET /a', [`Host: ${host}`])).status]).toEqual([
        host,
        400,
      ])
    const absolute = await exchange(port, 'GET http://elsewhere.example/a?b=1')
    expect(absolute.body.toString()).toBe('http://test/a?b=1')
    const failed = await exchange(port, 'GET /fails')
    expect([failed.status, failed.body.includes('1234')]).toEqual([500, false])
    expect(errors).toHaveLength(1)
    const half = await dial(port)
    half.write('POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\nhalf')
    half.end()
    await new Promise((resolve) => half.once('close', resolve).resume())
    expect((await exchange(port, 'GET /a?b=1')).status).toBe(200)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})
