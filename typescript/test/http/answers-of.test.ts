/** What is kept of stored answers, whose variants are compressed once: within a bound. */
import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { answersOf, type HandedOut } from '../../src/http/answers-of.ts'

const MIB = 2 ** 20
const request = new Request('http://test.example/', { headers: { 'accept-encoding': 'gzip' } })
const stored = (body: Uint8Array, status = 200) => ({
  ...{ status, fields: [], body, etag: '"a"', made: 0 },
  ...{ freshUntil: 1, revalidateUntil: 1, errorUntil: 1 },
})
const page = stored(Buffer.from('page '.repeat(1000)))
const empty = new Uint8Array()

let handOut: HandedOut
/** Whether it is: else its variant has to be compressed, which takes a while. */
const isKept = () => !(handOut('page', page, request, 'hit') instanceof Promise)

beforeEach(async () => {
  handOut = answersOf({}, [], () => 0)
  await handOut('page', page, request, 'hit')
})

test('one is kept', () => {
  expect(isKept()).toBe(true)
})

test('what has no body counts by its key', async () => {
  for (let number = 0; number < 20; number++)
    await handOut('k'.repeat(MIB) + number, stored(empty), request, 'hit')
  expect(isKept()).toBe(true)
  for (let number = 0; number < 32; number++)
    await handOut('k'.repeat(MIB) + number, stored(empty), request, 'hit')
  expect(isKept()).toBe(false)
})

test('what has another status is not kept', async () => {
  for (let number = 0; number < 40; number++)
    await handOut('k'.repeat(MIB) + number, stored(empty, 301), request, 'hit')
  expect(isKept()).toBe(true)
})

test('variants count', async () => {
  const large = (number: number) => stored(randomBytes(MIB + number))
  for (let number = 0; number < 20; number++)
    await handOut(`${number}`, large(number), request, 'hit')
  expect(isKept()).toBe(false)
})
