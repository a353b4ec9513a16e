/** The objects that a value holds, for tests of copies. */

type Any = ReturnType<typeof JSON.parse>

/** No object of one is an object of the other. */
export function expectApart(one: unknown, other: unknown): void {
  const objects = allObjects(one)
  for (const object of allObjects(other)) if (objects.has(object)) throw new Error('held in common')
}

/** Every object that a value reaches, buffers too. */
function allObjects(value: unknown): Set<object> {
  const found = new Set<object>()
  const add = (part: unknown) => {
    if (typeof part === 'object' && part !== null) found.add(part)
  }
  add(value)
  for (const object of found) {
    if (object instanceof Map) for (const entry of object) entry.forEach(add)
    if (object instanceof Set) object.forEach(add)
    // Small Buffers share the pool.
    if (ArrayBuffer.isView(object)) {
      if (!Buffer.isBuffer(object)) add(object.buffer)
      continue
    }
    for (const key of Reflect.ownKeys(object)) add((object as Any)[key])
  }
  return found
}

/** Changes every object of a value. */
export function spoil(value: unknown): void {
  for (const object of allObjects(value)) {
    if (object instanceof Map || object instanceof Set) object.clear()
    else if (object instanceof Date) object.setTime(12345)
    else if (object instanceof RegExp) object.lastIndex = 99
    else if (ArrayBuffer.isView(object)) {
      new Uint8Array(object.buffer, object.byteOffset, object.byteLength).fill(255)
    } else if (object instanceof ArrayBuffer) new Uint8Array(object).fill(255)
    else if (Array.isArray(object)) object.length = 0
    else if (object instanceof Error) object.message = 'spoiled'
    else (object as Any).spoiled = true
    if (!ArrayBuffer.isView(object) && !(object instanceof ArrayBuffer)) {
      for (const key of Object.keys(object)) {
        if (!(object instanceof String && /^\d+$/.test(key))) delete (object as Any)[key]
      }
    }
  }
}

export function hasError(value: unknown): boolean {
  return [...allObjects(value)].some((object) => object instanceof Error)
}
