/** A representation and what is put around it, without a server. */
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { CODINGS, HttpProblem, Representation, streamRange } from '../../src/http/index.ts'
import { InvalidArgument, PolycacheError } from '../../src/index.ts'

const ask = (headers: Record<string, string> = {}) =>
  new Request('http://test.example/', { headers })
const LIST = Buffer.from(JSON.stringify(Array.from({ length: 1000 }, (_, n) => n)))

test('answers at once what is there, and what is compressed later, once for all callers', async () => {
  const list = new Representation(LIST)
  expect(list.respond(ask())).toBeInstanceOf(Response)
  const first = list.encoded('gzip')
  const second = list.encoded('gzip')
  expect(first).toBeInstanceOf(Promise)
  const bytes = await first
  expect(await second).toBe(bytes)
  expect(list.encoded('gzip')).toBe(bytes)
  expect(gunzipSync(bytes)).toEqual(LIST)
  expect(list.respond(ask({ 'accept-encoding': 'gzip' }))).toBeInstanceOf(Response)
})

test('is a view of its part of a larger buffer', async () => {
  const whole = new Uint8Array(Buffer.from('xx[1,2]yy'))
  const part = new Representation(whole.subarray(2, 7))
  expect(part.text()).toBe('[1,2]')
  expect(part.etag).toBe(new Representation(Buffer.from('[1,2]')).etag)
  expect(await (await part.respond(ask())).json()).toEqual([1, 2])
  expect(await (await part.within('a').respond(ask())).json()).toEqual({ a: [1, 2] })
})

test('answers that are read later are each their own, also where a long text makes the frame grow', async () => {
  const list = new Representation(LIST)
  const answers = [1, 5000, 2, 70_000, 3].map((length) =>
    list.within('value', { text: 'é'.repeat(length) }).respond(ask()),
  )
  for (const [at, length] of [1, 5000, 2, 70_000, 3].entries()) {
    const document = (await (await answers[at]).json()) as { value: number[]; text: string }
    expect(document.text).toBe('é'.repeat(length))
    expect(document.value).toHaveLength(1000)
  }
})

test('in gzip, too, whatever the length of the text and of the value', async () => {
  for (const size of [0, 1, 1000, 200_000]) {
    const one = new Representation(Buffer.from(JSON.stringify('v'.repeat(size))))
    for (const length of [0, 1, 65_530, 65_536, 140_000]) {
      const text = 'é'.repeat(length)
      const answer = one
        .within('n'.repeat(length), { text })
        .respond(ask({ 'accept-encoding': 'gzip, identity;q=0' }))
      const body = gunzipSync(Buffer.from(await (await answer).arrayBuffer()))
      expect(JSON.parse(body.toString())).toEqual({ ['n'.repeat(length)]: 'v'.repeat(size), text })
    }
  }
})

test('documents have the members of JSON: names are quoted, undefined is left out', () => {
  const one = new Representation(Buffer.from('1'))
  const date = new Date(0)
  expect(one.within('a"b', { date, none: undefined }).text()).toBe(
    '{"a\\"b":1,"date":"1970-01-01T00:00:00.000Z"}',
  )
  expect(one.within('a').text()).toBe('{"a":1}')
  expect(one.within('__proto__', { b: 2 }).text()).toBe('{"__proto__":1,"b":2}')
  expect(one.within('a').etag).toBeUndefined()
  expect(one.within('a', {}, { incidental: true }).etag).toBe(`W/${one.etag}`)
})

test('compresses no document for a client that has it', async () => {
  const page = new Representation(Buffer.from(JSON.stringify('x'.repeat(3000))))
  const document = page.within('value', { at: 1 }, { incidental: true })
  const fields = { 'accept-encoding': 'gzip' }
  // What is compressed comes later: so these were not.
  const unchanged = document.respond(ask({ ...fields, 'if-none-match': page.etag }))
  expect(unchanged).toMatchObject({ status: 304 })
  const other = document.respond(ask({ ...fields, 'if-match': '"another"' }))
  expect(other).toMatchObject({ status: 412 })
  const whole = document.respond(ask(fields))
  expect(whole).toBeInstanceOf(Promise)
  expect((await whole).headers.get('content-encoding')).toBe('gzip')
})

describe('refuses', () => {
  const list = new Representation(LIST)
  const html = new Representation(LIST, { contentType: 'text/html' })
  const cases: Record<string, () => unknown> = {
    'text for bytes': () => new Representation('[1]' as never),
    'a content type that would be two fields': () =>
      new Representation(LIST, { contentType: 'text/html\r\nset-cookie: a=1' }),
    'a tag without quotes': () => new Representation(LIST, { etag: 'v1' }),
    'a time that is none': () => new Representation(LIST, { storedAt: Number.NaN }),
    'an unknown option': () => new Representation(LIST, { colour: 'red' } as never),
    'a coding that it cannot make': () => list.encoded('deflate' as never),
    'fields around what is no JSON': () => html.within('value'),
    'a field of the name of the value': () => list.within('value', { value: 1 }),
    'fields that are a list': () => list.within('value', []),
    'a field of its own': () => list.respond(ask(), { headers: { ETag: '"a"' } }),
    'a field that would be two': () => list.respond(ask(), { headers: { 'x-a': 'b\nc: d' } }),
    'a Cache-Control of nothing': () => list.respond(ask(), { cacheControl: {} }),
    'an age for what nobody stores': () =>
      list.respond(ask(), { cacheControl: { noStore: true, maxAge: '1s' } }),
    'a bare number for a time': () => list.respond(ask(), { cacheControl: { maxAge: 5 as never } }),
  }
  test.each(Object.keys(cases))('%s', (name) => {
    expect(cases[name]).toThrow(InvalidArgument)
  })
})

test('a problem is an error of this package, with its status', () => {
  const problem = new HttpProblem(503, 'Later.', { retry: 5 })
  expect(problem).toBeInstanceOf(PolycacheError)
  expect([problem.name, problem.code, problem.status]).toEqual(['HttpProblem', 'http_problem', 503])
  expect([problem.retryable, new HttpProblem(404, 'No.').retryable]).toEqual([true, false])
})

test('codings are those of the run time', () => {
  expect(CODINGS.filter((coding) => coding !== 'zstd')).toEqual(['br', 'gzip'])
})

describe('ranges of ids', () => {
  const read = (query: string) => streamRange(new URLSearchParams(query), { maxCount: 100 })
  const LAST = '18446744073709551615'

  test.each([
    ['', { start: '-', end: '+', count: 100 }],
    ['start=5&end=6-1&count=7', { start: '5', end: '6-1', count: 7 }],
    ['start=(5-1&end=(6', { start: '(5-1', end: '(6', count: 100 }],
    ['start=-&end=+', { start: '-', end: '+', count: 100 }],
    ['end=%2B&other=1', { start: '-', end: '+', count: 100 }],
    [`start=${LAST}-${LAST}`, { start: `${LAST}-${LAST}`, end: '+', count: 100 }],
  ])('%j', (query, range) => {
    expect(read(query)).toEqual(range)
  })

  test.each([
    'start=',
    'start=a',
    'start=1-',
    'start=-1',
    'start=1-2-3',
    'start=((1',
    'start=[1',
    'start=1%0D%0A2',
    'start=18446744073709551616',
    `start=(${LAST}-${LAST}`,
    'end=(0-0',
    'start=1&start=1',
    'count=0',
    'count=101',
    'count=-1',
    'count=1.5',
    'count=1e1',
    'count=',
    'count=1&count=2',
  ])('not %j', (query) => {
    expect(() => read(query)).toThrow(HttpProblem)
  })
})
