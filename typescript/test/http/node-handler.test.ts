/** A handler of the Web's Request under node:http and Express: what it gets, and what becomes of clients that do not behave. */
import * as zlib from 'node:zlib'
import express from 'express'
import { expect, test } from 'vitest'
import { nodeHandler, responseCache } from '../../src/http/index.ts'
import { Cache, InvalidArgument } from '../../src/index.ts'
import { dial, exchange, parsed, sendRaw } from '../support/http-exchange.ts'
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

/** Sends a request, and goes away when the first bytes of the answer are there. */
async function leaveEarly(port: number, path: string): Promise<void> {
  const socket = await dial(port)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  socket.destroy()
}

test('a client that leaves ends a body that says nothing', async () => {
  const errors: unknown[] = []
  let cancelled = 0
  let wait = () => {}
  const cancel = () => {
    cancelled++
    wait()
  }
  const silent = () =>
    new Response(
      new ReadableStream({ start: (it) => it.enqueue(Buffer.from(': hello\n\n')), cancel }),
      { headers: { 'content-type': 'text/event-stream' } },
    )
  const cached = responseCache(new Cache(), silent)
  const served = nodeHandler(cached, { onError: (one) => errors.push(one) })
  await withServer(served, async (port) => {
    for (let round = 1; round <= 3; round++) {
      const ended = new Promise<void>((resolve) => {
        wait = () => cancelled >= 2 * round && resolve()
        wait()
      })
      // Each asks the handler once as one who knows only the key, whose body is cancelled, too.
      await leaveEarly(port, `/${round}`)
      await ended
    }
  })
  expect(errors).toEqual([])
})

test('a client that leaves aborts the signal of its request, and one that stays does not', async () => {
  const errors: unknown[] = []
  const signals: AbortSignal[] = []
  let aborted = () => {}
  const handler = async ({ signal, url, method }: Request) => {
    signals.push(signal)
    if (url.endsWith('/stays')) return new Response(method)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    aborted()
    throw signal.reason
  }
  const served = nodeHandler(handler, { onError: (one) => errors.push(one) })
  await withServer(served, async (port) => {
    const stays = await exchange(port, 'POST /stays', ['Content-Length: 1'], 'a')
    expect(stays.body.toString()).toBe('POST')
    for (const [line, body] of [
      ['GET /leaves', ''],
      ['POST /leaves', 'a'],
    ]) {
      const told = new Promise<void>((resolve) => {
        aborted = resolve
      })
      const socket = await dial(port)
      const length = body === '' ? '' : 'Content-Length: 1\r\n'
      const before = signals.length
      socket.write(`${line} HTTP/1.1\r\nHost: test\r\n${length}\r\n${body}`)
      while (signals.length === before) await exchange(port, 'GET /stays')
      socket.destroy()
      await told
    }
  })
  expect(signals[0].aborted).toBe(false)
  expect(signals.filter(({ aborted }) => aborted)).toHaveLength(2)
  expect(errors).toEqual([])
})

test('a body that a parser read before is not taken for an empty one', async () => {
  const errors: unknown[] = []
  let asked = 0
  const echo = async (request: Request) => {
    asked++
    return new Response(`got ${await request.text()}`)
  }
  const served = nodeHandler(echo, { maxBody: 100, onError: (one) => errors.push(one) })
  const app = express()
  const verify = (request: object, _: unknown, bytes: Buffer) => {
    Object.assign(request, { rawBody: bytes })
  }
  app.use('/parsed', express.json())
  app.use('/kept', express.json({ verify }))
  app.use('/raw', express.raw({ type: '*/*' }))
  app.use(served)
  const JSON_TYPE = 'Content-Type: application/json'
  await withServer(app, async (port) => {
    const post = (path: string, body: string, fields: string[] = []) =>
      exchange(port, `POST ${path}`, [JSON_TYPE, `Content-Length: ${body.length}`, ...fields], body)
    for (const path of ['/kept', '/raw', '/unread'])
      expect([path, (await post(path, '{"pay":1}')).body.toString()]).toEqual([
        path,
        'got {"pay":1}',
      ])
    // There is nothing to parse.
    expect((await post('/parsed', '')).body.toString()).toBe('got ')
    expect(errors).toEqual([])
    expect((await post('/kept', JSON.stringify(['x'.repeat(200)]))).status).toBe(413)
    asked = 0

    const lost = await post('/parsed', '{"pay":1}')
    expect([lost.status, lost.fields['content-type']]).toEqual([500, ['application/problem+json']])
    const packed = zlib.gzipSync('{"pay":1}').toString('latin1')
    expect((await post('/kept', packed, ['Content-Encoding: gzip'])).status).toBe(500)
    expect(asked).toBe(0)
    expect(errors.map(String)).toEqual(
      Array(2).fill(expect.stringContaining('read before nodeHandler, as express.json() does')),
    )
  })
})

test('a client that sends more than it may reads why before the connection ends', async () => {
  const served = nodeHandler(async (request) => new Response(await request.text()), {
    maxBody: '1MiB',
  })
  await withServer(served, async (port) => {
    const content = 'x'.repeat(5_000_000)
    const head = 'POST / HTTP/1.1\r\nHost: test\r\n'
    const chunked = `Transfer-Encoding: chunked\r\n\r\n${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`
    for (let round = 0; round < 10; round++) {
      for (const rest of [`Content-Length: ${content.length}\r\n\r\n${content}`, chunked]) {
        const { status, fields, body } = parsed(await sendRaw(port, head + rest))
        expect([status, fields.connection]).toEqual([413, ['close']])
        expect(JSON.parse(body.toString()).limit).toBe(2 ** 20)
      }
    }
  })
})

test('a client that never stops sending is not read for ever', async () => {
  const served = nodeHandler(() => new Response('page'), { maxBody: 1000 })
  await withServer(served, async (port) => {
    const socket = await dial(port)
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const chunk = Buffer.alloc(2 ** 20)
    socket.write('POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 1000000000000\r\n\r\n')
    const more = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', more)
    socket.resume()
    more()
    await closed
  })
})
