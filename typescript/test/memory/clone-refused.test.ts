/** What copies refuse, and where the error says that it stands. */
import { describe, expect, test } from 'vitest'
import { cloner, copied, refusedAt } from '../support/copies.ts'
import { failure } from '../support/failure.ts'

describe('what is refused', () => {
  class Point {
    x = 1
  }
  class Words extends Array {}
  class Table extends Map {}
  class Failure extends Error {}

  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const detached = new ArrayBuffer(8)
  structuredClone(detached, { transfer: [detached] })

  test.each<[string, unknown]>([
    ['a function', () => 1],
    ['a class', Point],
    ['a symbol', Symbol('a')],
    ['an instance', new Point()],
    ['a kind of array', new Words()],
    ['a kind of map', new Table()],
    ['a kind of error', new Failure('a')],
    ['a WeakMap', new WeakMap()],
    ['a WeakSet', new WeakSet()],
    ['a WeakRef', new WeakRef({})],
    ['a Promise', Promise.resolve()],
    ['a generator', (function* () {})()],
    ['a boxed symbol', Object(Symbol('a'))],
    ['a URL', new URL('https://example.com')],
    ['a SharedArrayBuffer', new SharedArrayBuffer(8)],
    ['a view on one', new Uint8Array(new SharedArrayBuffer(8))],
    ['a Buffer on one', Buffer.from(new SharedArrayBuffer(8))],
    ['a resizable buffer', new ArrayBuffer(1, { maxByteLength: 2 })],
    ['a view on one', new Uint8Array(new ArrayBuffer(1, { maxByteLength: 2 }))],
    ['a detached buffer', detached],
    ['a revoked proxy', proxy],
    ['what only looks like a Date', Object.create(Date.prototype)],
    ['what only looks like a Map', Object.create(Map.prototype)],
    ['a proxy of a Date', new Proxy(new Date(), {})],
    ['an object with a prototype of its own', Object.create({ a: 1 })],
    ['a RegExp with an odd lastIndex', Object.assign(/a/, { lastIndex: {} })],
  ])('%s', (_, value) => {
    expect(refusedAt(value)).toBe('$')
    expect(refusedAt({ a: { b: [0, value] } })).toBe('$.a.b[1]')
    expect(refusedAt([{}, new Map([['two words', { c: value }]])])).toBe('$[1]["two words"].c')
    expect(refusedAt(new Map([[{ k: value }, 1]]))).toBe('$[0].k')
    expect(refusedAt(new Set([1, [value]]))).toBe('$[1][0]')
    expect(refusedAt({ a: new Error('e', { cause: [value] }) })).toBe('$.a.cause[0]')
    expect(refusedAt({ [Symbol.iterator]: [value] })).toBe('$["Symbol(Symbol.iterator)"][0]')
    // And nothing is left over from the attempt.
    expect(copied({ a: [{}] })).toEqual({ a: [{}] })
  })

  test('the message says what and where', () => {
    expect(() => cloner.copyIn({ a: new Point() })).toThrow(
      'cannot store the value at $.a: an instance of Point cannot be copied: make a plain object of it, or give the option types or cloneInstance',
    )
  })

  test('what a getter throws is passed on', () => {
    const value = {
      a: {
        get b() {
          throw new RangeError('mine')
        },
      },
    }
    expect(failure(() => cloner.copyIn(value))).toEqual(new RangeError('mine'))
    expect(copied([{}])).toEqual([{}])
  })
})
