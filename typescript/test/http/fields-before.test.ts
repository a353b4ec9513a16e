/** Fields that a middleware or a hook set before: what chose the answer is told whole (RFC 9110 12.5.5). */
import type { AddressInfo } from 'node:net'
import { Elysia } from 'elysia'
import express from 'express'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { endpoint, nodeHandler, Representation, send, sendFastify } from '../../src/http/index.ts'
import { exchange, type Received } from '../support/http-exchange.ts'
import { withServer } from '../support/node-server.ts'

const page = new Representation(Buffer.from('[1]'))
const OPTIONS = { headers: { 'x-own': 'own' } }
const served = endpoint(({ query }) => (query.has('none') ? undefined : page), OPTIONS)
/** For each value that was set before, the names that there are in the end. */
const BEFORE: readonly (readonly [string | string[], string])[] = [
  ['Origin', 'accept-encoding, origin'],
  ['origin,Accept-Encoding', 'accept-encoding, origin'],
  [['Origin', 'X-Tenant'], 'accept-encoding, origin, x-tenant'],
  ['*', '*'],
]

const varyOf = ({ fields }: Received) =>
  fields.vary.join(', ').toLowerCase().split(/, */).sort().join(', ')

/** What was set before and what was not, with and without a content. */
async function checkAll(port: number, path: string, names: string): Promise<void> {
  for (const condition of [[], [`If-None-Match: ${page.etag}`]]) {
    const received = await exchange(port, `GET ${path}`, condition)
    expect([path, received.status, varyOf(received)]).toEqual([
      path,
      condition.length === 0 ? 200 : 304,
      names,
    ])
    expect(received.fields['x-before']).toEqual(['stays'])
    expect(received.fields['x-own']).toEqual(['own'])
  }
}

test.each(BEFORE)('Express: after a Vary of %j', async (before, names) => {
  const app = express()
  app.use((_, response, next) => {
    response.set({ Vary: before, 'x-before': 'stays', 'x-own': 'goes' })
    next()
  })
  app.get('/node', served.node)
  app.get('/send', (request, response) => send(request, response, page, OPTIONS))
  await withServer(app, async (port) => {
    await checkAll(port, '/node', names)
    await checkAll(port, '/send', names)
    const gone = await exchange(port, 'GET /node?none')
    expect(gone.status).toBe(404)
    expect(varyOf(gone)).toMatch(/origin|\*/)
  })
})

test.each(BEFORE)('Fastify: after a Vary of %j', async (before, names) => {
  const app = fastify()
  app.addHook('onRequest', async (_, reply) => {
    reply.headers({ Vary: before, 'x-before': 'stays', 'x-own': 'goes' })
  })
  app.get('/fastify', served.fastify)
  app.get('/raw', served.fastifyRaw)
  app.get('/send', (request, reply) => sendFastify(request, reply, page, OPTIONS))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  try {
    for (const path of ['/fastify', '/raw', '/send']) await checkAll(port, path, names)
  } finally {
    await app.close()
  }
})

test('Fastify without hooks: what was set on the response itself is joined, too', async () => {
  const app = fastify()
  app.addHook('onRequest', async (_, reply) => {
    reply.raw.setHeader('Vary', 'X-Tenant')
    reply.header('Vary', 'Origin')
  })
  app.get('/raw', served.fastifyRaw)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  try {
    expect(varyOf(await exchange(port, 'GET /raw'))).toBe('accept-encoding, origin, x-tenant')
  } finally {
    await app.close()
  }
})

test('Elysia: what its plugins set before is joined', async () => {
  const app = new Elysia()
    .onRequest(({ set }) => {
      set.headers.vary = 'Origin'
    })
    .get('/', served.elysia)
  for (const coding of ['identity', 'gzip']) {
    const request = new Request('http://shop.example/', {
      headers: { 'accept-encoding': coding },
    })
    const { headers } = await app.handle(request)
    expect(headers.get('vary')?.toLowerCase()).toBe('origin, accept-encoding')
  }
})

test('a handler of a Request: Vary is joined, and cookies of both are set', async () => {
  const own = nodeHandler(({ url }) => {
    const response = new Response('page', { headers: { vary: 'accept-language' } })
    if (!url.endsWith('/cookies')) return response
    response.headers.append('set-cookie', 'a=1')
    response.headers.append('set-cookie', 'b=2')
    return response
  })
  const app = express()
  app.use((_, response, next) => {
    response.vary('Origin')
    response.cookie('session', '1')
    next()
  })
  app.use(own)
  await withServer(app, async (port) => {
    const plain = await exchange(port, 'GET /')
    expect([varyOf(plain), plain.fields['set-cookie']]).toEqual([
      'accept-language, origin',
      ['session=1; Path=/'],
    ])
    const cookies = await exchange(port, 'GET /cookies')
    expect(cookies.fields['set-cookie']?.toSorted()).toEqual(['a=1', 'b=2', 'session=1; Path=/'])
  })
})
