/** What errors say of objects that cannot be copied or frozen. */
import { Kind, kindOf } from './kind.ts'

/** The message for a refused value. */
export function describe(value: unknown): string {
  if (typeof value === 'function') return 'a function cannot be copied'
  if (typeof value === 'symbol') return 'a symbol cannot be copied'
  let name: unknown
  try {
    name = (value as object).constructor?.name
  } catch {}
  return typeof name === 'string' && name !== ''
    ? `an instance of ${name} cannot be copied: make a plain object of it, or give the option types or cloneInstance`
    : 'this object cannot be copied: make a plain object of it'
}

export function articled(object: object): string {
  const { name } = object.constructor
  return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`
}

export function isBinary(object: object): boolean {
  return ArrayBuffer.isView(object) || object instanceof ArrayBuffer
}

/** Like `kindOf`; a revoked proxy, which cannot even be asked, is an instance. */
export function safeKindOf(value: object): Kind {
  try {
    return kindOf(value)
  } catch {
    return Kind.Instance
  }
}
