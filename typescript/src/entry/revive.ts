import { isNamed, Named } from './named.ts'
import type { Segment } from './path.ts'
import { decode, type Types } from './registered.ts'

/**
 * A value as its payload has it, with a `Named` for each value of a registered type. Only decoding makes these:
 * `decode` is the user's code and may come here again, so it has to wait until the buffers are free.
 */
export class Unrevived {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

/**
 * What a reader gets of a payload. Call it last: it runs the user's code.
 * @throws WrongType
 */
export function revive(value: unknown, types: Types | undefined): unknown {
  return value instanceof Unrevived ? reviveParts(value.value, types, []) : value
}

/** Puts what each `decode` makes into the place of its `Named`, inner ones first. The value has no other owner yet. */
function reviveParts(value: unknown, types: Types | undefined, path: Segment[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const level = path.length
    for (let place = 0; place < value.length; place++) {
      path[level] = place
      value[place] = reviveParts(value[place], types, path)
    }
    path.length = level
  } else if (isNamed(value)) {
    const inner = reviveParts(value.value, types, path)
    const named = inner === value.value ? value : new Named(value.name, inner)
    return decode(named, types, () => path)
  } else if (Object.getPrototypeOf(value) === Object.prototype) {
    const level = path.length
    const map = value as Record<string, unknown>
    for (const key of Object.keys(map)) {
      path[level] = key
      // An own property, also if its name is `__proto__`.
      map[key] = reviveParts(map[key], types, path)
    }
    path.length = level
  }
  return value
}
