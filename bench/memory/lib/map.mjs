const rest = (map) => ({
  delete: (key) => map.delete(key),
  keys: () => [...map.keys()],
  clear: () => map.clear(),
})

export const open = () => {
  const map = new Map()
  return {
    set: (key, value) => map.set(key, value),
    get: (key) => map.get(key),
    has: (key) => map.has(key),
    ...rest(map),
  }
}

/** Each value is kept with its expiry; a get that finds it expired deletes it. */
export const openExpiring = ({ ttl }) => {
  const map = new Map()
  const entry = (key) => {
    const found = map.get(key)
    if (found === undefined || found.expires > Date.now()) return found
    map.delete(key)
    return undefined
  }
  return {
    set: (key, value) => map.set(key, { value, expires: Date.now() + 1000 * ttl }),
    get: (key) => entry(key)?.value,
    has: (key) => entry(key) !== undefined,
    ...rest(map),
  }
}
