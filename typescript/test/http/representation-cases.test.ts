/** `spec/http/representation.json`: what bytes in memory answer. */
import * as zlib from 'node:zlib'
import { expect, test } from 'vitest'
import { Representation, type RespondOptions } from '../../src/http/index.ts'
import { camel, checkFields, type ExpectedFields } from '../support/http-cases.ts'
import { readSpec } from '../support/spec.ts'

interface Case {
  readonly name: string
  readonly value?: {
    readonly text?: string
    readonly repeat?: number
    readonly content_type?: string
    readonly stored_seconds_ago?: number
  }
  readonly options?: Record<string, unknown>
  readonly request: { readonly method?: string; readonly headers?: Record<string, string> }
  readonly expect: {
    readonly status: number
    readonly body: 'value' | 'empty' | 'problem'
    readonly headers?: ExpectedFields
  }
}

const DECODE = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
}
const { cases } = readSpec<{ cases: Case[] }>('http/representation.json')
const NOW = Date.UTC(2026, 0, 1)

test.each(cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
  const { text, repeat = 2000, content_type: type, stored_seconds_ago: ago } = one.value ?? {}
  const bytes = Buffer.from(text ?? JSON.stringify('x'.repeat(repeat)))
  const representation = new Representation(bytes, {
    ...(type !== undefined && { contentType: type }),
    ...(ago !== undefined && { storedAt: NOW - ago * 1000 }),
    clock: () => NOW,
  })
  const gzip = new Representation(await representation.encoded('gzip')).etag
  const names = { etag: representation.etag, gzip, bare: representation.etag.slice(1, -1) }
  const fill = (given: string) =>
    given.replace(/\$\{(\w+)\}/g, (_, name: keyof typeof names) => names[name])
  const { method = 'GET', headers = {} } = one.request
  const fields = Object.entries(headers).map(([name, value]) => [name, fill(value)] as const)
  const request = { method, headers: new Headers(fields.map(([name, value]) => [name, value])) }
  const response = await representation.respond(request, camel<RespondOptions>(one.options))
  expect(response.status).toBe(one.expect.status)
  checkFields(response.headers, one.expect.headers, fill)
  const body = Buffer.from(await response.arrayBuffer())
  if (one.expect.body === 'empty') expect(body.length).toBe(0)
  else if (one.expect.body === 'problem') {
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(JSON.parse(body.toString()).status).toBe(one.expect.status)
  } else {
    const coding = response.headers.get('content-encoding') as keyof typeof DECODE | null
    expect(coding === null ? body : DECODE[coding](body)).toEqual(bytes)
  }
})
