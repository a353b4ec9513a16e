/**
 * The engines in which the mapping was read in the tests and under load, by the beginnings of their versions: V8 of
 * Node 22 and of Node 24; JavaScriptCore of Bun 1.4, which gets a newer one with each minor version. The reader relies
 * (`spec/host.md`, `spec/memory.md`) on how these compile loads; no standard promises that.
 */
const V8: readonly string[] = ['12.4.', '13.6.']
const BUN: readonly string[] = ['1.4.']

/** Other programs have V8, too, with their own build or event loop. */
const OTHERS = ['electron', 'deno', 'nw'] as const

/** Whether this is an engine in which JavaScript may read the mapping; in any other one the native part does. */
export function readsMapping(versions: Readonly<Record<string, string | undefined>>): boolean {
  if (versions.bun !== undefined) return begins(versions.bun, BUN)
  if (versions.node === undefined || OTHERS.some((name) => versions[name] !== undefined))
    return false
  return versions.v8 !== undefined && begins(versions.v8, V8)
}

function begins(version: string, tested: readonly string[]): boolean {
  return tested.some((beginning) => version.startsWith(beginning))
}
