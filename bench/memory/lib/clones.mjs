// Value isolation for a synchronous cache that shares its values: a structured clone into it and out of it.

/** `open` with clones around set and get. */
export const cloning = (open) => (options) => {
  const cache = open(options)
  return {
    ...cache,
    set: (key, value) => cache.set(key, structuredClone(value)),
    // A miss is cloned as well, to nothing.
    get: (key) => structuredClone(cache.get(key)),
  }
}

export const CLONED = 'structuredClone on set and on get'
