// A cache written by hand: a Map that keeps the value for one second. It holds
// the object itself, shared by all requests of this process; when the second is over, every request
// that comes before the first load has ended loads again.

import { KEY } from './answer.mjs'

export function keptForOneSecond(load) {
  const kept = new Map()
  return async () => {
    const found = kept.get(KEY)
    if (found && found.until > Date.now()) return found.value
    const value = await load()
    kept.set(KEY, { value, until: Date.now() + 1000 })
    return value
  }
}
