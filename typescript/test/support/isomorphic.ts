/** Whether two values are the same but for the identity of their objects, which correspond one to one. */

/** Why two values differ, with the way there; undefined if they do not. */
export function difference(
  left: unknown,
  right: unknown,
  way = '$',
  pairs: Map<unknown, unknown> = new Map(),
  back: Map<unknown, unknown> = new Map(),
): string | undefined {
  if (typeof left !== 'object' || left === null || typeof right !== 'object' || right === null) {
    return Object.is(left, right) ? undefined : `${way}: ${String(left)} is not ${String(right)}`
  }
  if (pairs.has(left) || back.has(right)) {
    const same = pairs.get(left) === right && back.get(right) === left
    return same ? undefined : `${way}: shared in one of them only`
  }
  pairs.set(left, right)
  back.set(right, left)
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return `${way}: another class`
  const lefts = partsOf(left)
  const rights = partsOf(right)
  if (lefts.length !== rights.length) return `${way}: ${lefts.length} parts, not ${rights.length}`
  for (const [at, [name, value]] of lefts.entries()) {
    if (name !== rights[at][0]) return `${way}: ${String(name)} is not ${String(rights[at][0])}`
    const found = difference(value, rights[at][1], `${way}.${String(name)}`, pairs, back)
    if (found !== undefined) return found
  }
  return undefined
}

type Parts = (readonly [name: PropertyKey, value: unknown])[]

/** All that an object holds: its own enumerable properties, and what its class keeps inside. */
function partsOf(object: object): Parts {
  // Bun's errors have such properties as `line`, and a Buffer's elements are looked at as bytes.
  const own = Reflect.ownKeys(object).filter((key) =>
    Object.prototype.propertyIsEnumerable.call(object, key),
  )
  const parts: Parts = ArrayBuffer.isView(object)
    ? []
    : own.map((key) => [key, (object as Record<PropertyKey, unknown>)[key]] as const)
  if (Array.isArray(object)) parts.push(['length', object.length])
  if (object instanceof Date) parts.push(['time', object.getTime()])
  if (object instanceof RegExp) {
    parts.push(['text', String(object)], ['lastIndex', object.lastIndex])
  }
  if (object instanceof Map) {
    for (const [key, value] of object) parts.push(['key', key], ['value', value])
  }
  if (object instanceof Set) for (const member of object) parts.push(['member', member])
  if (object instanceof ArrayBuffer) parts.push(['bytes', hex(new Uint8Array(object))])
  if (ArrayBuffer.isView(object)) {
    const { buffer, byteOffset, byteLength } = object
    parts.push(['bytes', hex(new Uint8Array(buffer, byteOffset, byteLength))])
  }
  if (object instanceof Error) {
    const { name, message, stack, cause } = object
    parts.push(['name', name], ['message', message], ['stack', stack], ['cause', cause])
  }
  if (
    object instanceof Number ||
    object instanceof String ||
    object instanceof Boolean ||
    object instanceof BigInt
  ) {
    parts.push(['boxed', object.valueOf()])
  }
  return parts
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
