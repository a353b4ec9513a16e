/** A handler's own answers, which a response cache adds a field to, through the servers of both run times. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { nodeHandler, responseCache } from '../../src/http/index.ts'
import { Cache } from '../../src/index.ts'

interface BunServer {
  readonly port: number
  upgrade(request: Request): boolean
  stop(closeConnections: boolean): Promise<void>
}

const bun = (globalThis as { Bun?: { serve(options: object): BunServer } }).Bun

type Handler = (request: Request) => Response | Promise<Response>

/** Answers of a server with this handler. */
async function serving(handler: Handler, use: (url: string) => Promise<void>): Promise<void> {
  if (bun !== undefined) {
    const server = bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handler })
    await use(`http://127.0.0.1:${server.port}/`).finally(() => server.stop(true))
    return
  }
  const server = createServer(nodeHandler(handler))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`).finally(() => {
    server.closeAllConnections()
    server.close()
  })
}

test('an answer that is not stored keeps the type that its server gives it', async () => {
  const handlers: [string, Handler][] = [
    ['a text', () => new Response('text')],
    ['a text with fields', () => new Response('text', { headers: { 'x-a': '1' } })],
    ['bytes', () => new Response(Buffer.from('bytes'))],
    ['JSON', () => Response.json({ a: 1 })],
    ['none', () => new Response(null, { status: 404, headers: { 'cache-status': 'a; hit' } })],
  ]
  const typeOf = async (url: string) => {
    const response = await fetch(url)
    await response.arrayBuffer()
    return response.headers.get('content-type')
  }
  for (const [name, handler] of handlers) {
    let own: string | null = null
    await serving(handler, async (url) => {
      own = await typeOf(url)
    })
    await serving(responseCache(new Cache(), handler), async (url) => {
      expect([name, await typeOf(url)]).toEqual([name, own])
      const { headers } = await fetch(url, { method: 'POST' })
      const before = name === 'none' ? 'a; hit, ' : ''
      const said = [name, headers.get('cache-status')]
      expect(said).toEqual([name, `${before}polycache; fwd=method`])
    })
  }
})

test.each([{}, { 'cache-status': 'a; hit' }])(
  'an answer without a body that is given again and again says only what is so, %o',
  async (headers: Record<string, string>) => {
    const none = new Response(null, { status: 404, headers })
    const before = none.headers.has('cache-status') ? 'a; hit, ' : ''
    await serving(
      responseCache(new Cache(), () => none),
      async (url) => {
        for (let times = 0; times < 3; times++) {
          const { status, headers } = await fetch(url, { method: 'POST' })
          const said = [status, headers.get('cache-status')]
          expect(said).toEqual([404, `${before}polycache; fwd=method`])
        }
      },
    )
  },
)

describe.skipIf(bun === undefined)("Bun's server", () => {
  test('a request that becomes a WebSocket has no answer, and ends no process', async () => {
    const answers: unknown[] = []
    const cached = responseCache(new Cache(), (request) => {
      const isUpgraded = server.upgrade(request)
      return (isUpgraded ? undefined : new Response('none')) as Response
    })
    const fetch = async (request: Request) => {
      const answer = await cached(request).catch((error: unknown) => error)
      answers.push(answer)
      return answer
    }
    const websocket = { message: (socket: WebSocket, said: string) => socket.send(said) }
    const server = bun!.serve({ port: 0, hostname: '127.0.0.1', fetch, websocket })
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`)
    const echo = await new Promise((resolve) => {
      socket.onopen = () => socket.send('hello')
      socket.onmessage = ({ data }) => resolve(data)
    })
    expect(echo).toBe('hello')
    expect(answers).toEqual([undefined])
    socket.close()
    await server.stop(true)
  })
})
