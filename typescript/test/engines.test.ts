/** In which engines JavaScript reads the mapping, and the option that turns it off. */
import { expect, test } from 'vitest'
import { readsMapping } from '../src/host/engines.ts'
import { native } from '../src/host/native.ts'
import { Cache, InvalidArgument } from '../src/index.ts'
import { folder, open } from './support/caches.ts'

test.each([
  ['Node 22', { node: '22.23.1', v8: '12.4.254.21-node.33' }, true],
  ['Node 24', { node: '24.21.0', v8: '13.6.233.17-node.26' }, true],
  ['Bun 1.4', { bun: '1.4.4', node: '24.3.0', v8: '13.6.233.10-node.18', webkit: 'x' }, true],
  ['Node 20', { node: '20.20.2', v8: '11.3.244.8-node.30' }, false],
  ['Node 23', { node: '23.11.1', v8: '12.9.202.28-node.14' }, false],
  ['Node 26', { node: '26.1.0', v8: '14.6.202.33-node.10' }, false],
  ['a V8 whose version begins alike', { node: '30.0.0', v8: '12.40.1' }, false],
  ['Bun 1.3', { bun: '1.3.9', node: '24.3.0', v8: '13.6.233.10-node.18' }, false],
  ['Bun 1.40', { bun: '1.40.0', node: '24.3.0', v8: '13.6.233.10-node.18' }, false],
  ['Bun 2', { bun: '2.0.0', node: '24.3.0', v8: '13.6.233.10-node.18' }, false],
  ['Electron', { node: '24.3.0', v8: '13.6.233.10', electron: '38.1.0' }, false],
  ['Deno', { node: '24.3.0', v8: '13.6.233.10-rusty', deno: '2.9.0' }, false],
  ['NW.js', { node: '24.3.0', v8: '13.6.233.10', nw: '0.100.0' }, false],
  ['something else', {}, false],
])('%s', (_, versions, reads) => {
  expect(readsMapping(versions)).toBe(reads)
})

/** Reads a key twice; how often the native part was asked. */
function asked(cache: Cache): number {
  const { calls } = native()
  const { get } = calls
  let times = 0
  const counting: typeof get = (...given) => {
    times++
    return get(...given)
  }
  Object.assign(calls, { get: counting })
  try {
    expect([cache.getSync('k'), cache.getSync('k')]).toEqual([{ a: 1 }, { a: 1 }])
  } finally {
    Object.assign(calls, { get })
  }
  return times
}

test('this engine is one of them: or this test, and the list, want another look', () => {
  expect(readsMapping(process.versions)).toBe(true)
  const cache = open({ memory: false })
  cache.setSync('k', { a: 1 })
  expect(asked(cache)).toBe(0)
})

test('reader: native reads by the native part alone, without a memory tier, beside a handle that does not', () => {
  const path = folder()
  const [mapped, natively] = [
    open({ path, limit: '4MiB', memory: false }),
    open({ path, limit: '4MiB', reader: 'native' }),
  ]
  natively.setSync('k', { a: 1 })
  expect([asked(natively), asked(mapped)]).toEqual([2, 0])
  expect(natively.statsSync()).toMatchObject({ hits: 2, memoryHits: 0 })
  mapped.setSync('k', 2)
  expect(natively.getSync('k')).toBe(2)
})

test('in another engine the native part is asked', () => {
  const versions = Object.getOwnPropertyDescriptor(process, 'versions') as PropertyDescriptor
  const other = { node: '99.0.0', v8: '20.1.2' }
  Object.defineProperty(process, 'versions', { value: other, configurable: true, enumerable: true })
  let cache: Cache
  try {
    cache = open()
  } finally {
    Object.defineProperty(process, 'versions', versions)
  }
  cache.setSync('k', { a: 1 })
  expect(asked(cache)).toBe(2)
})

test('what is not a reader is refused; without a directory the option means nothing', () => {
  for (const reader of ['', 'Native', 'mapped', true, null] as never[]) {
    expect(() => open({ reader })).toThrow(InvalidArgument)
  }
  expect(() => new Cache({ reader: 'native' })).toThrow(InvalidArgument)
  const cache = open({ reader: 'auto' })
  cache.setSync('k', 1)
  expect(cache.getSync('k')).toBe(1)
})
