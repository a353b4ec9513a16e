type Threads = { markAsUncloneable?: (object: object) => void }

/** Undefined in browsers, and in engines that lack it: there a clone is an empty object, as of any instance of a class. */
const threads = (
  globalThis as { process?: { getBuiltinModule?: (name: string) => Threads | undefined } }
).process?.getBuiltinModule?.('worker_threads')

/**
 * Has `structuredClone`, `postMessage` and `workerData` refuse an object, by a DataCloneError: what they made of a cache was
 * an object without anything.
 */
export function refuseCloning(object: object): void {
  threads?.markAsUncloneable?.(object)
}
