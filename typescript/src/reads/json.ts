/** A reply as JSON: lists and objects as the client has them, bytes as text, a Map as an object, a Set as a list. */
export function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value, replaced) ?? 'null')
}

function replaced(this: unknown, key: string, value: unknown): unknown {
  // Of a Buffer the second is what its own toJSON made.
  const own = (this as Record<string, unknown>)[key]
  if (Buffer.isBuffer(own)) return own.toString()
  if (value instanceof Map) return Object.fromEntries(value)
  if (value instanceof Set) return [...value]
  if (typeof value === 'bigint') return value.toString()
  return value
}
