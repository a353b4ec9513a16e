/** A handler of the Web's Request under node:http and Express: what it gets, and what becomes of clients that do not behave. */
import { expect, test } from 'vitest'
import { nodeHandler, responseCache } from '../../src/http/index.ts'
import { Cache, InvalidArgument } from '../../src/index.ts'
import { exchange } from '../support/http-exchange.ts'
import { withServer } from '../support/node-server.ts'

test('what is stored names the host of the origin, whatever the client wrote', async () => {
  const page = (request: Request) =>
    new Response(`${request.headers.get('host')} ${request.url}`, {
      headers: { 'cache-control': request.method === 'GET' ? 'max-age=60' : 'no-store' },
    })
  const cached = responseCache(new Cache(), page)
  await withServer(nodeHandler(cached, { origin: 'https://shop.example' }), async (port) => {
    for (const host of ['evil.example', 'shop.example', 'a:99999', '']) {
      const { body, status } = await exchange(port, 'GET /a', [`Host: ${host}`])
      expect([status, body.toString()]).toEqual([200, 'shop.example https://shop.example/a'])
    }
    const passed = await exchange(port, 'POST /a', ['Host: evil.example', 'Content-Length: 0'])
    expect(passed.body.toString()).toBe('shop.example https://shop.example/a')
  })
  for (const origin of ['shop.example', 'https://', 'file:///a', ''])
    expect(() => nodeHandler(cached, { origin })).toThrow(InvalidArgument)
})

test('a handler whose answer is stored gets the Host of the URL, unless the field is in the key', async () => {
  const page = (request: Request) =>
    new Response(request.headers.get('host'), { headers: { 'cache-control': 'max-age=60' } })
  const ask = async (handler: (request: Request) => Promise<Response>, host: string) =>
    (await handler(new Request('https://shop.example/', { headers: { host } }))).text()
  const byUrl = responseCache(new Cache(), page)
  expect([await ask(byUrl, 'evil.example'), await ask(byUrl, 'shop.example')]).toEqual([
    'shop.example',
    'shop.example',
  ])
  const byHost = responseCache(new Cache(), page, { vary: ['host'] })
  expect([await ask(byHost, 'one.example'), await ask(byHost, 'two.example')]).toEqual([
    'one.example',
    'two.example',
  ])
})

test('a Host that is none is answered 400 with a problem document', async () => {
  const errors: unknown[] = []
  const handler = nodeHandler(() => new Response('page'), { onError: (one) => errors.push(one) })
  await withServer(handler, async (port) => {
    for (const host of ['a:99999', '1.2.3.4.5', '256.1.1.1', '[::g]']) {
      const { status, fields } = await exchange(port, 'GET /', [`Host: ${host}`])
      expect([host, status, fields['content-type']]).toEqual([
        host,
        400,
        ['application/problem+json'],
      ])
    }
    expect((await exchange(port, 'GET /', ['Host: a:65535'])).status).toBe(200)
    expect((await exchange(port, 'GET /', ['Host: [::1]:80'])).status).toBe(200)
  })
  expect(errors).toEqual([])
})
