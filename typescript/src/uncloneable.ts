/** An object that cannot be handed to another thread says so, and does not arrive as an empty object. */

type Threads = { markAsUncloneable?: (object: object) => void }
type Builtins = { process?: { getBuiltinModule?: (name: string) => Threads | undefined } }

let mark: ((object: object) => void) | undefined

/**
 * Makes structured clone refuse an object with a DataCloneError: `structuredClone`, `postMessage`, `workerData`. Does
 * nothing on Node before 22.10, and in browsers.
 */
export function uncloneable(object: object): void {
  // At the first object: loading the module takes a millisecond in a program without worker threads.
  mark ??=
    (globalThis as Builtins).process?.getBuiltinModule?.('worker_threads')?.markAsUncloneable ??
    (() => {})
  mark(object)
}
