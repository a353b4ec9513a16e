/** Isolation by copies: what is kept, and that nothing is held in common. What is refused: `clone-refused.test.ts`. */
import { createContext, runInContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { Decimal, UnsupportedValue, Uuid } from '../../src/index.ts'
import { Cloner } from '../../src/memory/clone.ts'
import { immutable } from '../../src/memory/immutable.ts'
import { AS_IS, copyOut, FLAT_ARRAY, GRAPH, TREE } from '../../src/memory/plan.ts'
import { copyPlain, placeOf } from '../../src/memory/shape.ts'
import { cloner, copied, refusedAt } from '../support/copies.ts'
import { failure } from '../support/failure.ts'
import { randomGraph } from '../support/graphs.ts'
import { difference } from '../support/isomorphic.ts'
import { expectApart, hasError, spoil } from '../support/objects.ts'
import { Random } from '../support/random.ts'

type Any = ReturnType<typeof JSON.parse>

function planOf(value: unknown): number {
  cloner.copyIn(value)
  return cloner.plan
}

const bytes = () => Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)

/** Each gives a new value. */
const VALUES: Record<string, () => unknown> = {
  null: () => null,
  text: () => 'text',
  '-0': () => -0,
  NaN: () => Number.NaN,
  'big integer': () => -(2n ** 80n),
  'an empty object': () => ({}),
  'a flat object': () => ({ a: 1, b: 'x', c: null, d: undefined, e: -0, f: 1.5, g: 3n, h: true }),
  'a flat array': () => [1, 'x', null, undefined, -0, Number.NaN],
  'an array of numbers': () => [1, 2, 3],
  'an array of floats': () => [1.5, -0, Number.NaN],
  'an array with holes': () => Object.assign(new Array(5), { 0: 1, 2: { a: 1 } }),
  'an array of holes': () => new Array(5),
  'a tree': () => ({ a: { b: [{ c: 1 }, [], {}], d: {} }, e: [[1], [[2]]] }),
  'a list of rows': () => Array.from({ length: 50 }, (_, id) => ({ id, tags: ['a', `${id}`] })),
  'integer keys': () => ({ 2: { a: 1 }, 1: [2], b: {} }),
  'a Date': () => new Date(5),
  'an invalid Date': () => new Date(Number.NaN),
  'dates in fields': () => ({ id: 1, created: new Date(1), updated: new Date(2) }),
  'a RegExp': () => Object.assign(/a+b/giu, { lastIndex: 3 }),
  'a Map': () =>
    new Map<unknown, unknown>([
      ['a', 1],
      [{ k: 1 }, [2]],
      [Number.NaN, new Map([[1, 2]])],
    ]),
  'a Set': () => new Set<unknown>([1, 'a', { b: 1 }, new Set([2])]),
  'an ArrayBuffer': () => bytes().buffer,
  'a DataView': () => new DataView(bytes().buffer, 2, 3),
  'a Buffer': () => Buffer.from('buffer'),
  'an empty Buffer': () => Buffer.alloc(0),
  'typed arrays': () => [
    new Int8Array([-1]),
    new Uint8Array([1]),
    new Uint8ClampedArray([300]),
    new Int16Array([-1]),
    new Uint16Array([1]),
    new Int32Array([-1]),
    new Uint32Array([1]),
    new Float32Array([0.5, Number.NaN]),
    new Float64Array([0.1, -0]),
    new BigInt64Array([-1n]),
    new BigUint64Array([1n]),
  ],
  'boxed primitives': () => [Object(1), Object('a'), Object(false), Object(2n)],
  'an Error': () => new TypeError('no', { cause: { why: [1] } }),
  'errors of errors': () => new AggregateError([new Error('a'), new RangeError('b')], 'all'),
  'an error of the system': () =>
    Object.assign(new Error('no file'), { code: 'ENOENT', errno: -2 }),
  'an object without a prototype': () => Object.assign(Object.create(null), { a: { b: 1 } }),
  'keys of JSON': () => JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":1},"b":2}'),
  'nothing but __proto__': () => JSON.parse('{"__proto__":1}'),
  'a null prototype with __proto__': () =>
    Object.assign(Object.create(null), JSON.parse('{"__proto__":{"a":[1]}}')),
  'a symbol key': () => ({ [Symbol.for('a')]: 1, b: 2 }),
  'an object under a symbol key': () => ({ [Symbol.for('a')]: { b: [1] }, c: { d: 1 } }),
}

describe('what is kept', () => {
  test.each(Object.entries(VALUES))('%s', (_, make) => {
    const value = make()
    const stored = cloner.copyIn(value)
    const { plan } = cloner
    expect(difference(copyOut(stored, plan), value)).toBeUndefined()
    // Each copy is a further one, and the next one is as right as the first.
    const [one, two] = [copyOut(stored, plan), copyOut(stored, plan)]
    expect(difference(one, two)).toBeUndefined()
    expectApart(one, two)
    expectApart(one, value)
  })

  test.each(Object.entries(VALUES))('%s, inside of others', (_, make) => {
    const value = { list: [make(), { it: make() }], map: new Map([['it', make()]]) }
    expect(difference(copied(value), value)).toBeUndefined()
    expectApart(copied(value), value)
  })

  test('a Buffer stays one, and does not keep the pool', () => {
    const stored = cloner.copyIn({ a: Buffer.from('abc') })
    expect(copyOut(stored, cloner.plan)).toEqual({ a: Buffer.from('abc') })
    expect(cloner.weight).toBeLessThan(1000)
    expect(Buffer.isBuffer(copied(Buffer.from('abc')))).toBe(true)
  })

  test('an own __proto__ pollutes nothing', () => {
    const copy = copied(JSON.parse('{"__proto__":{"polluted":{}},"x":{}}')) as Any
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(Object.keys(copy)).toEqual(['__proto__', 'x'])
    expect(copy.polluted).toBeUndefined()
    expect(({} as Any).polluted).toBeUndefined()
  })

  test('an accessor becomes its value at set, read once', () => {
    let reads = 0
    const value = {
      nested: {},
      get now() {
        return { reads: ++reads }
      },
    }
    expect(copied(value)).toEqual({ nested: {}, now: { reads: 1 } })
    expect(reads).toBe(1)
  })

  test('what is not enumerable is left out', () => {
    const value = Object.defineProperty({ a: 1 }, 'b', { value: {}, enumerable: false })
    expect(Reflect.ownKeys(copied(value))).toEqual(['a'])
  })

  test('a frozen object, and lists of them, have copies that can be changed', () => {
    const copy = copied(Object.freeze([Object.freeze({ a: Object.freeze([1]) })])) as Any
    copy[0].a.push(2)
    copy.push(3)
    expect(copy).toEqual([{ a: [1, 2] }, 3])
  })

  test('keys that somebody has given Object.prototype are not copied', () => {
    const values = [{ a: 1 }, { b: { c: 1 } }, [{ d: [1] }]]
    const prototype = Object.prototype as Any
    prototype.everywhere = { a: 1 }
    let copies: unknown[]
    try {
      copies = values.map(copied)
    } finally {
      // The assertions do not work with it.
      delete prototype.everywhere
    }
    expect(difference(copies, values)).toBeUndefined()
  })

  test('a huge sparse array is copied by what it has', () => {
    const value: unknown[] = []
    value[4_000_000_000] = { a: 1 }
    value[7] = 'b'
    const copy = copied({ value }).value as Any
    expect(copy.length).toBe(4_000_000_001)
    expect(Object.keys(copy)).toEqual(['7', '4000000000'])
    expect(copy[4_000_000_000]).toEqual({ a: 1 })
    expect(copy[4_000_000_000]).not.toBe(value[4_000_000_000])
  })

  test('an array whose constructor is another one', () => {
    const value = [1, 2, { a: 1 }]
    const taken: unknown[] = []
    Object.defineProperty(value, 'constructor', {
      value: {
        get [Symbol.species]() {
          return () => taken
        },
      },
    })
    expect(copied(value)).toEqual([1, 2, { a: 1 }])
    expect(taken).toEqual([])
  })

  test('values of another realm are of this one afterwards', () => {
    const text =
      '({ a: [1, { b: new Date(5) }], c: new Map([[1, new Set([2])]]), d: new Uint8Array(2), e: new TypeError("x") })'
    const value = runInContext(text, createContext({})) as Any
    const copy = copied(value)
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(Object.getPrototypeOf(copy.a)).toBe(Array.prototype)
    expect(copy.a).toEqual([1, { b: new Date(5) }])
    expect(copy.c).toEqual(new Map([[1, new Set([2])]]))
    expect(copy.d).toEqual(new Uint8Array(2))
    expect(copy.e).toBeInstanceOf(TypeError)
    expect(copy.e.message).toBe('x')
    expect(failure(() => runInContext('class A {}; new A()', createContext({})))).toBeUndefined()
    expect(refusedAt(runInContext('class A {}; new A()', createContext({})))).toBe('$')
  })

  test('a hundred shapes, each at every place that copies', () => {
    for (let shape = 0; shape < 100; shape++) {
      const value = Object.fromEntries(
        Array.from({ length: 1 + (shape % 9) }, (_, at) => [`k${'x'.repeat(shape)}${at}`, at]),
      )
      expect(copied(value)).toEqual(value)
      for (let place = 0; place < 32; place++) expect(copyPlain(value, place)).toEqual(value)
      expect(placeOf(value)).toBeLessThan(32)
      expect(placeOf(value)).toBeGreaterThanOrEqual(0)
    }
  })
})

describe('which plan a value gets', () => {
  test.each([
    ['a primitive', 'x', AS_IS],
    ['a flat object', { a: 1 }, placeOf({ a: 1 })],
    ['a flat array', [1, 2], FLAT_ARRAY],
    ['a tree', { a: [{ b: 1 }] }, TREE],
    ['a Date', new Date(0), GRAPH],
    ['an object with an immutable one', { a: new Decimal('1') }, placeOf({ a: 1 })],
    ['a tree with an immutable one', { a: new Decimal('1'), b: {} }, GRAPH],
    ['a symbol key', { [Symbol.iterator]: 1 }, placeOf({})],
    ['an object under a symbol key', { [Symbol.iterator]: {} }, GRAPH],
  ])('%s', (_, value, plan) => expect(planOf(value)).toBe(plan))

  test('the same object twice', () => {
    const shared = {}
    expect(planOf([shared, shared])).toBe(GRAPH)
    expect(planOf([shared, {}, shared])).toBe(GRAPH)
    expect(planOf([shared, {}])).toBe(TREE)
  })
})

describe('shared references and cycles', () => {
  test('an object that refers to itself', () => {
    const value: Any = { a: 1 }
    value.self = value
    const copy = copied(value)
    expect(copy.self).toBe(copy)
    expect(copy).not.toBe(value)
    const list: Any = []
    list.push(list)
    expect(copied(list)[0]).not.toBe(list)
    expect(difference(copied(list), list)).toBeUndefined()
  })

  test('in keys and values of a Map and members of a Set', () => {
    const shared = { a: 1 }
    const value: Any = { map: new Map([[shared, shared]]), set: new Set([shared]), list: [shared] }
    value.map.set('all', value)
    value.set.add(value.map)
    expect(difference(copied(value), value)).toBeUndefined()
    const copy = copied(value)
    expect(copy.map.get(copy.list[0])).toBe(copy.list[0])
    expect(copy.set.has(copy.list[0])).toBe(true)
    expect(copy.map.get('all')).toBe(copy)
  })

  test('far apart, among many', () => {
    const shared = {}
    const value = [shared, ...Array.from({ length: 1000 }, () => ({})), shared, { shared }]
    const copy = copied(value) as Any
    expect(copy[0]).toBe(copy[1001])
    expect(copy[0]).toBe(copy[1002].shared)
    expect(new Set(copy).size).toBe(1002)
  })

  test('an error that is its own cause', () => {
    const error = new Error('a')
    error.cause = { error }
    const copy = copied(error)
    expect((copy.cause as Any).error).toBe(copy)
  })

  test('views on one buffer share a copy of it, in any order', () => {
    const memory = bytes().buffer
    const [low, high] = [new Uint8Array(memory, 0, 4), new Uint16Array(memory, 2, 3)]
    const view = new DataView(memory, 1, 4)
    for (const value of [
      [low, high, view],
      [view, low, high, memory],
      [memory, high, low],
      [low, memory],
      [high, low, memory, view, low],
    ]) {
      expect(difference(copied(value), value)).toBeUndefined()
      const copy = copied(value) as Any
      const buffers = new Set(copy.map((one: Any) => one.buffer ?? one))
      expect(buffers.size).toBe(1)
      expect(buffers.has(memory)).toBe(false)
      expect(copy[0].byteOffset ?? 0).toBe((value[0] as Any).byteOffset ?? 0)
    }
  })

  test('a lone view takes no more than its bytes along', () => {
    const large = new Uint8Array(1 << 20)
    const stored = cloner.copyIn([large.subarray(5, 10), Buffer.from(large.buffer, 1, 2)])
    expect(cloner.weight).toBeLessThan(2000)
    const copy = copyOut(stored, cloner.plan) as Uint8Array[]
    expect(copy[0].buffer.byteLength).toBe(5)
  })

  test('random graphs are like structuredClone makes them', () => {
    for (let seed = 1; seed <= 3000; seed++) {
      const value = randomGraph(new Random(seed), seed % 2 === 0 ? 'json' : undefined)
      const stored = cloner.copyIn(value)
      const { plan } = cloner
      for (const copy of [copyOut(stored, plan), copyOut(stored, plan)]) {
        const found = difference(copy, value)
        if (found !== undefined) throw new Error(`seed ${seed}: ${found}`)
        expectApart(copy, value)
      }
      // It makes errors with other stacks on Bun, and knows none of their further properties.
      const peer = structuredClone(value)
      if (!hasError(value)) expect(difference(copyOut(stored, plan), peer)).toBeUndefined()
    }
  })
})

describe('isolation', () => {
  test.each(Object.entries(VALUES))('%s: changes of the source or a copy go nowhere', (_, make) => {
    const source = { it: make() }
    const stored = cloner.copyIn(source)
    const { plan } = cloner
    // That it is right is shown above; errors that are made at two moments have two stacks.
    const before = copyOut(stored, plan)
    expect(difference(before, source)).toBeUndefined()
    spoil(source)
    const copy = copyOut(stored, plan)
    expect(difference(copy, before)).toBeUndefined()
    spoil(copy)
    expect(difference(copyOut(stored, plan), before)).toBeUndefined()
  })

  test('the stored value holds nothing of the source', () => {
    const source = { a: [new Map([['m', { x: 1 }]]), { b: 1 }, new Error('e', { cause: {} })] }
    const stored = cloner.copyIn(source)
    expectApart(copyOut(stored, cloner.plan), source)
  })
})

describe('instances of classes', () => {
  test('Decimal and Uuid are kept as they are', () => {
    const [decimal, uuid] = [new Decimal('1.5'), new Uuid('0'.repeat(32))]
    expect(copied(decimal)).toBe(decimal)
    const copy = copied({ decimal, nested: [{ uuid }, uuid], many: Array(20).fill({ decimal }) })
    expect(copy.decimal).toBe(decimal)
    expect(copy.nested).toEqual([{ uuid }, uuid])
    expect((copy.nested[0] as Any).uuid).toBe(uuid)
    expect(copy.many[19].decimal).toBe(decimal)
  })

  test('so is a class with the mark', () => {
    class Money {
      get [immutable](): boolean {
        return true
      }
    }
    const money = new Money()
    expect(copied([money, money])[1]).toBe(money)
  })

  test('cloneInstance copies them in and out', () => {
    class Point {
      readonly at: number[]
      constructor(at: number[]) {
        this.at = at
      }
    }
    const calls: object[] = []
    const hooked = new Cloner({
      cloneInstance: (instance) => {
        calls.push(instance)
        return instance instanceof Point ? new Point([...instance.at]) : undefined
      },
    })
    const point = new Point([1])
    const stored = hooked.copyIn({ point, again: point })
    const copy = copyOut(stored, hooked.plan) as Any
    expect(copy.point).toBeInstanceOf(Point)
    expect(copy.again).toBe(copy.point)
    expect(calls).toHaveLength(2)
    point.at.push(2)
    copy.point.at.push(3)
    expect((copyOut(stored, hooked.plan) as Any).point.at).toEqual([1])
    expect(failure(() => hooked.copyIn([new URL('a:b')]))).toBeInstanceOf(UnsupportedValue)
  })

  test('a getter that copies a value itself disturbs nothing', () => {
    const value = {
      list: [{}, {}],
      get inner() {
        return copied({ a: [{ b: new Date(1) }] })
      },
      after: { c: 1 },
    }
    expect(copied({ value, x: [value] })).toEqual({ value: { ...value }, x: [{ ...value }] })
    const nested = {
      deep: {
        get inner() {
          return copied([{ a: {} }])
        },
      },
      after: [{ c: 1 }],
    }
    expect(copied(nested)).toEqual({ deep: { inner: [{ a: {} }] }, after: [{ c: 1 }] })
  })
})

describe('deep nesting', () => {
  const DEPTH = 100_000
  const nest = (wrap: (inner: unknown) => unknown, core: unknown) => {
    let value = core
    for (let level = 0; level < DEPTH; level++) value = wrap(value)
    return value
  }

  test.each<[string, (inner: unknown) => unknown, (outer: Any) => unknown]>([
    ['objects', (a) => ({ a }), (outer) => outer.a],
    ['arrays', (a) => [a], (outer) => outer[0]],
    ['maps', (a) => new Map([['a', a]]), (outer) => outer.get('a')],
    ['errors', (cause) => Object.assign(new Error(), { cause }), (outer) => outer.cause],
  ])('%s', (name, wrap, open) => {
    const limit = Error.stackTraceLimit
    if (name === 'errors') Error.stackTraceLimit = 0
    try {
      let copy: unknown = copied(nest(wrap, 'core'))
      for (let level = 0; level < DEPTH; level++) copy = open(copy)
      expect(copy).toBe('core')
    } finally {
      Error.stackTraceLimit = limit
    }
  })

  test('a culprit at the bottom', () => {
    expect(
      refusedAt(
        nest(
          (a) => [a],
          () => 1,
        ),
      ),
    ).toBe(`$${'[0]'.repeat(DEPTH)}`)
  })
})
