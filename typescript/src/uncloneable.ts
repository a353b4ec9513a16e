/** What cannot be handed to another thread says so, and does not arrive as an empty object. */

type Threads = { markAsUncloneable?: (object: object) => void }
type Builtins = { process?: { getBuiltinModule?: (name: string) => Threads | undefined } }

let mark: ((object: object) => void) | undefined

/**
 * Has structured clone refuse an object by a DataCloneError: `structuredClone`, `postMessage`, `workerData`. Does nothing on
 * Nodes before 22.10, and in browsers.
 */
export function uncloneable(object: object): void {
  // At the first object: the module takes a program that has no worker threads a millisecond to load.
  mark ??=
    (globalThis as Builtins).process?.getBuiltinModule?.('worker_threads')?.markAsUncloneable ??
    (() => {})
  mark(object)
}
