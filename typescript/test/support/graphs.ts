import type { Random } from './random.ts'

const KEYS = ['id', 'name', 'constructor', '__proto__', 'toString', 'a b', '0', '12', '']

/** A value with cycles and shared references, of the kinds that `structuredClone` keeps too. */
export function randomGraph(random: Random, only?: 'json'): unknown {
  const kinds = only === 'json' ? 2 : 9
  const objects: object[] = []
  const count = 1 + random.below(random.below(4) === 0 ? 60 : 8)
  for (let at = 0; at < count; at++) objects.push(emptyOne(random, random.below(kinds)))
  // A tree has each object once; else each may refer to any.
  const isTree = random.below(3) === 0
  for (const [at, object] of objects.entries()) {
    for (let part = random.below(6); part > 0; part--) hold(random, object, primitive(random))
    if (!isTree) {
      for (let part = random.below(4); part > 0; part--) hold(random, object, random.pick(objects))
    }
    if (at > 0) hold(random, objects[random.below(at)], object)
  }
  return objects[0]
}

function emptyOne(random: Random, kind: number): object {
  switch (kind) {
    case 0:
      return {}
    case 1:
      return []
    case 2:
      return new Map()
    case 3:
      return new Set()
    case 4:
      return new Date(random.below(1e9))
    case 5:
      return new Uint8Array(random.bytes(random.below(20)))
    case 6:
      return new Float64Array([random.below(9), -0, Number.NaN])
    case 7:
      return Object(random.below(9))
    default:
      return new RangeError(`no ${random.below(9)}`)
  }
}

/** Puts a value into an object, if it can hold one. */
function hold(random: Random, holder: object, value: unknown): void {
  if (Array.isArray(holder)) {
    if (random.below(9) === 0) holder.length++
    holder.push(value)
  } else if (holder instanceof Map) {
    holder.set(random.below(2) === 0 ? value : random.pick(KEYS), value)
  } else if (holder instanceof Set) {
    holder.add(value)
  } else if (Object.getPrototypeOf(holder) === Object.prototype) {
    Object.defineProperty(holder, random.pick(KEYS) + random.pick(['', '', '1', '2']), {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
}

function primitive(random: Random): unknown {
  return random.pick([
    null,
    undefined,
    true,
    random.below(100),
    -0,
    Number.NaN,
    1.5,
    2n ** 70n,
    'text',
    'é\ud800',
  ])
}
