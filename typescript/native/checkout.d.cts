/**
 * Loads the native part, of which `src/host/native.ts` says what it is.
 * @throws {Error} it is not there or does not load; the message says what was tried and what to do
 */
declare function load(requireHere?: (name: string) => unknown): unknown
export = load
