/** One endpoint in every framework, over real connections: whatever the framework, HTTP is the same. */
import * as zlib from 'node:zlib'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CODINGS,
  type Coding,
  endpoint,
  HttpProblem,
  Representation,
  send,
  streamRange,
} from '../../src/http/index.ts'
import { dial, exchange, parsed, sendRaw } from '../support/http-exchange.ts'
import { type Listening, SERVERS } from '../support/http-servers.ts'
import { withServer } from '../support/node-server.ts'

const DECODE: Record<Coding, (bytes: Buffer) => Buffer> = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
}
const VALUE = JSON.stringify(Array.from({ length: 2000 }, (_, id) => ({ id, name: `n${id}ü` })))
const value = new Representation(Buffer.from(VALUE))
/** Far more than a socket's buffers hold. */
const large = new Representation(Buffer.alloc(20_000_000, 'x'), { contentType: 'text/plain' })
const list = new Representation(Buffer.from(JSON.stringify(Array(3_000_000).fill(1))))

let counter = 0
const failures: unknown[] = []
const served = endpoint(
  async ({ query, header }) => {
    const what = query.get('what')
    if (what === 'within') return value.within('value', { n: counter++, who: header('x-who') })
    if (what === 'incidental') return value.within('value', { n: counter++ }, { incidental: true })
    if (what === 'large') return large
    if (what === 'around') return list.within('value', { who: header('x-who') })
    if (what === 'fails') throw new Error('the password is 1234')
    if (what === 'gone') throw new HttpProblem(404, 'There is no such stream.')
    if (what === 'nothing') return undefined
    if (what === 'range') return new Representation(Buffer.from(JSON.stringify(streamRange(query))))
    return value
  },
  { cacheControl: { maxAge: '5s' }, onError: (error) => failures.push(error) },
)

describe.each(Object.keys(SERVERS))('%s', (name) => {
  let server: Listening
  beforeAll(async () => {
    server = await SERVERS[name](served)
  })
  afterAll(() => server.close())
  const ask = (path: string, fields: string[] = [], method = 'GET') =>
    exchange(server.port, `${method} ${path}`, fields)

  test('sends the bytes, their length and their tag', async () => {
    const { status, fields, body } = await ask('/')
    expect(status).toBe(200)
    expect(body.toString()).toBe(VALUE)
    expect(fields['content-type']).toEqual(['application/json'])
    expect(fields['content-length']).toEqual([String(body.length)])
    expect(fields.etag).toEqual([value.etag])
    expect(fields['cache-control']).toEqual(['max-age=5'])
    expect(fields.vary).toEqual(['accept-encoding'])
    expect(fields.date).toHaveLength(1)
    expect(fields['content-encoding']).toBeUndefined()
  })

  test('answers HEAD as GET without the content', async () => {
    const { status, fields, body } = await ask('/', [], 'HEAD')
    expect([status, body.length]).toEqual([200, 0])
    expect(fields.etag).toEqual([value.etag])
    expect(fields['content-length']).toEqual([String(value.size)])
  })

  test('answers 304 to who has it, also to HEAD', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, fields, body } = await ask('/', [`If-None-Match: ${value.etag}`], method)
      expect([status, body.length]).toEqual([304, 0])
      expect(fields.etag).toEqual([value.etag])
      expect(fields['cache-control']).toEqual(['max-age=5'])
      expect(fields.vary).toEqual(['accept-encoding'])
      expect(fields['content-type']).toBeUndefined()
      expect(fields['content-length']).not.toEqual(['0'])
    }
  })

  test('joins repeated fields of a condition', async () => {
    const fields = ['If-None-Match: "a"', `If-None-Match: ${value.etag}`]
    expect((await ask('/', fields)).status).toBe(304)
  })

  test.each(CODINGS)('sends %s with a tag of its own', async (coding) => {
    const accept = `Accept-Encoding: ${coding}`
    const { status, fields, body } = await ask('/', [accept])
    expect([status, fields['content-encoding']]).toEqual([200, [coding]])
    expect(DECODE[coding](body).toString()).toBe(VALUE)
    expect(fields['content-length']).toEqual([String(body.length)])
    const [etag] = fields.etag
    expect(etag).not.toBe(value.etag)
    expect((await ask('/', [accept, `If-None-Match: ${etag}`])).status).toBe(304)
    expect((await ask('/', [accept, `If-None-Match: ${value.etag}`])).status).toBe(200)
    expect((await ask('/', [`If-None-Match: ${etag}`])).status).toBe(200)
  })

  test('answers problems as documents', async () => {
    const refused = await ask('/', ['Accept-Encoding: identity;q=0'])
    expect(refused.status).toBe(406)
    expect(refused.fields['content-type']).toEqual(['application/problem+json'])
    const wrong = await ask('/', ['If-Match: "other"'])
    expect([wrong.status, JSON.parse(wrong.body.toString()).status]).toEqual([412, 412])
    const posted = await exchange(server.port, 'POST /', ['Content-Length: 0'])
    expect([posted.status, posted.fields.allow]).toEqual([405, ['GET, HEAD']])
    const gone = await ask('/?what=gone')
    expect(gone.status).toBe(404)
    expect(JSON.parse(gone.body.toString())).toEqual({
      type: 'about:blank',
      title: 'Not Found',
      status: 404,
      detail: 'There is no such stream.',
    })
    expect((await ask('/?what=nothing')).status).toBe(404)
  })

  test('says nothing of an error to the client, and all of it to onError', async () => {
    failures.length = 0
    for (const method of ['GET', 'HEAD']) {
      const { status, body, fields } = await ask('/?what=fails', [], method)
      expect(status).toBe(500)
      expect(body.toString()).not.toContain('1234')
      expect(fields['cache-control']).toEqual(['no-store'])
    }
    expect(failures.map(String)).toEqual(Array(2).fill('Error: the password is 1234'))
  })

  test('puts fields around the value, each answer its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, who) => ask('/?what=within', [`X-Who: w${who}`])),
    )
    const documents = answers.map(({ body }) => JSON.parse(body.toString()))
    expect(documents.map(({ who }) => who)).toEqual(answers.map((_, who) => `w${who}`))
    expect(new Set(documents.map(({ n }) => n)).size).toBe(60)
    for (const document of documents) expect(document.value).toEqual(JSON.parse(VALUE))
    for (const { fields, body } of answers) {
      expect(fields['content-length']).toEqual([String(body.length)])
      expect(fields.etag).toBeUndefined()
    }
    const head = await ask('/?what=within', ['X-Who: w1'], 'HEAD')
    expect([head.status, head.body.length, head.fields.etag]).toEqual([200, 0, undefined])
  })

  test('puts fields around a value that was compressed before', async () => {
    for (const who of ['w1', 'ü'.repeat(10), 'x'.repeat(5000)]) {
      const asked = ['Accept-Encoding: gzip, br', `X-Who: ${who}`]
      const { fields, body } = await ask('/?what=within', asked)
      expect(fields['content-encoding']).toEqual(['gzip'])
      expect(fields['content-length']).toEqual([String(body.length)])
      const document = JSON.parse(zlib.gunzipSync(body).toString())
      expect([document.value, document.who]).toEqual([JSON.parse(VALUE), who])
      expect(body.length).toBeLessThan(VALUE.length / 2 + 5000)
    }
    const head = await ask('/?what=within', ['Accept-Encoding: gzip'], 'HEAD')
    expect([head.fields['content-encoding'], head.body.length]).toEqual([['gzip'], 0])
    expect((await ask('/?what=within', ['Accept-Encoding: identity;q=0, br'])).status).toBe(406)
  })

  test('incidental fields leave the value its tag, as a weak one', async () => {
    const first = await ask('/?what=incidental')
    expect(first.fields.etag).toEqual([`W/${value.etag}`])
    const fields = [`If-None-Match: ${first.fields.etag[0]}`]
    const second = await ask('/?what=incidental', fields)
    expect([second.status, second.fields['content-type']]).toEqual([304, undefined])
    const matched = await ask('/?what=incidental', [`If-Match: W/${value.etag}`])
    expect(matched.status).toBe(412)
  })

  test('reads ranges of ids, and refuses what is none', async () => {
    const right = await ask('/?what=range&start=(5-1&end=+&count=7')
    expect(JSON.parse(right.body.toString())).toEqual({ start: '(5-1', end: '+', count: 7 })
    for (const query of ['start=a', 'start=1&start=2', 'count=0', 'count=99999999', 'end=1-2-3']) {
      const { status, body } = await ask(`/?what=range&${query}`)
      expect([query, status]).toEqual([query, 400])
      expect(JSON.parse(body.toString()).parameter).toBe(query.split('=')[0])
    }
  })

  test('stays right with hostile targets and fields', async () => {
    const targets = [
      '//',
      '/%00',
      '/..%2f..%2fetc',
      '/?',
      '/?=&&=',
      '/?what[]=large',
      '/#x',
      '/?a=%',
    ]
    for (const target of targets) expect([200, 400]).toContain((await ask(target)).status)
    const absolute = await ask('http://elsewhere.example/?what=gone')
    expect([404, 400]).toContain(absolute.status)
    const fields = [
      'If-None-Match: W/',
      `If-None-Match: ${'"a",'.repeat(500)}`,
      'If-None-Match: "unfinished',
      'Accept-Encoding: ;;;q=,,=,gzip;q=2,br;q=nan',
      `Accept-Encoding: ${'*;q=1,'.repeat(500)}`,
      'Range: bytes=0-1',
    ]
    for (const field of fields)
      expect([field, (await ask('/', [field])).status]).toEqual([field, 200])
    const smuggled = await sendRaw(
      server.port,
      'POST / HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /?what=fails HTTP/1.1\r\n\r\n',
    )
    if (smuggled.length > 0) expect([400, 405]).toContain(parsed(smuggled).status)
  })

  test('half a request, and a client that goes away, hurt nobody', async () => {
    const half = await dial(server.port)
    half.write('GET / HTTP/1.1\r\nHost: te')
    const gone = await dial(server.port)
    gone.write('GET /?what=large HTTP/1.1\r\nHost: test\r\n\r\n')
    await new Promise((resolve) => gone.once('data', resolve))
    gone.destroy()
    half.destroy()
    const { status, body } = await ask('/?what=large')
    expect([status, body.length]).toEqual([200, 20_000_000])
  })

  test('answers that wait for slow clients stay their own', async () => {
    const sockets = await Promise.all(Array.from({ length: 5 }, () => dial(server.port)))
    const begun = sockets.map((socket, who) => {
      socket.write(
        `GET /?what=around HTTP/1.1\r\nHost: t\r\nConnection: close\r\nX-Who: w${who}\r\n\r\n`,
      )
      return new Promise<void>((resolve) => socket.once('readable', () => resolve()))
    })
    await Promise.all(begun)
    const bodies = sockets.map(async (socket) => {
      const chunks: Buffer[] = []
      for await (const chunk of socket) chunks.push(chunk as Buffer)
      return parsed(Buffer.concat(chunks)).body.toString()
    })
    for (const [who, body] of (await Promise.all(bodies)).entries())
      expect(body.slice(-14)).toBe(`1],"who":"w${who}"}`)
  })

  test('keeps a connection for several requests', async () => {
    const one = 'GET /?what=within HTTP/1.1\r\nHost: test\r\n\r\n'
    const last = 'GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n'
    const bytes = await sendRaw(server.port, one + one + last)
    expect(bytes.toString('latin1').match(/HTTP\/1\.1 200/g)).toHaveLength(3)
  })

  if (name.startsWith('Fastify')) {
    test('fields that hooks of the framework set are there', async () => {
      expect((await ask('/')).fields['x-hook']).toEqual(['ran'])
    })
  }
})

test('an answer that a time limit gave meanwhile stands, and ends no process', async () => {
  const errors: unknown[] = []
  let give = (_: Representation) => {}
  const slow = endpoint(() => new Promise<Representation>((resolve) => (give = resolve)), {
    onError: (one) => errors.push(one),
  })
  let settled: unknown
  await withServer(
    (request, response) => {
      // Compressing takes until later, too.
      const own = new Representation(Buffer.from(VALUE))
      settled =
        request.url === '/send' ? send(request, response, own) : slow.node(request, response)
      response.writeHead(503).end('late')
      give(value)
    },
    async (port) => {
      for (const path of ['/', '/send']) {
        const { status, body } = await exchange(port, `GET ${path}`, ['Accept-Encoding: gzip'])
        expect([status, body.toString()]).toEqual([503, 'late'])
        expect(settled).toBeInstanceOf(Promise)
        await settled
      }
    },
  )
  const app = fastify()
  app.get('/', (request, reply) => {
    settled = slow.fastifyRaw(request, reply)
    reply.raw.writeHead(503).end('late')
    give(value)
  })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  expect((await exchange(Number(port), 'GET /')).status).toBe(503)
  await settled
  await app.close()
  expect(errors).toEqual([])
})
