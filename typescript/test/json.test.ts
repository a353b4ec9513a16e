/** What JSON.stringify would write otherwise than the cache promises is refused, or written part by part. */
import { describe, expect, test } from 'vitest'
import { writeJson } from '../src/entry/json.ts'
import { UnsupportedValue } from '../src/index.ts'
import { failure } from './support/failure.ts'

const withToJson = (value: object, enumerable: boolean) =>
  Object.defineProperty(value, 'toJSON', { value: () => 'lost', enumerable })

describe('is refused, at any depth', () => {
  const refused: [string, unknown][] = [
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate in a key', { '\udfff': 1 }],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a hole', new Array(1)],
    ['undefined in a list', [undefined]],
    ['a symbol', { [Symbol('s')]: 1 }],
    ['a function', { f: () => 1 }],
    ['a Date', new Date(0)],
    ['an object that says how it is written', withToJson({ a: 1 }, true)],
    ['what a regular expression gave', /a/.exec('a')],
  ]
  test.each(refused)('%s', (_, value) => {
    expect(failure(() => writeJson(value))).toBeInstanceOf(UnsupportedValue)
    expect(failure(() => writeJson({ list: [value] }))).toBeInstanceOf(UnsupportedValue)
  })

  test('what is nested too deep, and what holds itself', () => {
    const itself: unknown[] = []
    itself.push(itself)
    expect(failure(() => writeJson(itself))).toBeInstanceOf(UnsupportedValue)
  })
})

describe('is written as it is', () => {
  const written: [string, unknown, string, boolean][] = [
    ['text that looks like an escape', '\\ud800', '"\\\\ud800"', false],
    ['a pair of surrogates', '😀', '"😀"', false],
    ['minus zero', [-0], '[0]', true],
    ['a Map', new Map([['a', 1]]), '{"a":1}', true],
    ['a missing value', { a: undefined, b: 1 }, '{"b":1}', true],
    ['a big integer', [5n], '[5]', true],
    ['a list that says how it is written', withToJson([1], false), '[1]', false],
    ['an object that says so in secret', withToJson({ a: 1 }, false), '{"a":1}', false],
    ['a member called toJSON', { toJSON: 'text' }, '{"toJSON":"text"}', false],
    [
      'an object without a prototype',
      Object.assign(Object.create(null), { a: 1 }),
      '{"a":1}',
      true,
    ],
  ]
  test.each(written)('%s', (_, value, text, converted) => {
    const one = writeJson(value)
    expect([one.text, one.converted]).toEqual([text, converted])
    const nested = writeJson({ list: [value, 'x'] })
    expect([nested.text, nested.converted]).toEqual([`{"list":[${text},"x"]}`, converted])
  })

  test('weighs the same, however it is written', () => {
    const plain = { a: [1, { b: 'text' }, []], c: null }
    expect(writeJson(plain).weight).toBe(writeJson(new Map(Object.entries(plain))).weight)
  })
})
