/**
 * A reply as JSON: lists and objects as the client has them, bytes as text, a Map as an object, a Set as a list. The text of
 * a document is JSON already.
 */
export function jsonOf(value: unknown, isDocument = false): Buffer {
  if (isDocument && (typeof value === 'string' || Buffer.isBuffer(value))) {
    return Buffer.from(value as string)
  }
  // A function that is asked for each value makes it several times as slow.
  const text = isJson(value) ? JSON.stringify(value) : JSON.stringify(value, replaced)
  return Buffer.from(text ?? 'null')
}

/** Whether JSON has a form for all that is in it. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint'
  if (Array.isArray(value)) return value.every(isJson)
  const prototype: unknown = Object.getPrototypeOf(value)
  return (
    (prototype === null || prototype === Object.prototype) && Object.values(value).every(isJson)
  )
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
