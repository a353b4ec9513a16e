import type { AnyNamespace } from './any-namespace.ts'
import { Handle } from './host/handle.ts'
import { HostNamespace } from './host/namespace.ts'
import { MemoryHandle } from './memory/handle.ts'
import { MemoryNamespace } from './memory/namespace.ts'
import { type CacheOptions, resolveOptions } from './options.ts'
import { RemoteHandle } from './remote/handle.ts'
import { type RemoteDefaults, RemoteNamespace } from './remote/namespace.ts'
import { synchronous } from './remote/synchronous.ts'

/** What the cache of a nested namespace is made of. */
export class OfNamespace {
  readonly keys: AnyNamespace

  constructor(keys: AnyNamespace) {
    this.keys = keys
  }
}

/** What `console.log` shows of a cache. */
export function factsOf(keys: AnyNamespace): Record<string, unknown> {
  const { handle, parts } = keys
  if (handle.closed) return { namespace: parts, closed: true }
  return { path: keys.path(), namespace: parts, memory: handle.bounds ?? false }
}

/** A namespace of a cache with a remote tier. */
function remoteAt(
  handle: RemoteHandle,
  parts: readonly string[],
  settings: RemoteDefaults,
): AnyNamespace {
  const awaited = new RemoteNamespace(handle, parts, settings)
  return synchronous(awaited, (nested) => remoteAt(handle, nested, settings))
}

/** Opens a cache: its root, or the namespace of its options. */
export function open(options: CacheOptions): AnyNamespace {
  const { host, remote, lifetime, name, waiting, parts, memory, clock, types, timeToIdle } =
    resolveOptions(options)
  if (remote !== undefined) {
    const handle = new RemoteHandle(remote.opening, waiting, clock, remote.memory, types)
    return remoteAt(handle, parts, remote.settings)
  }
  if (host !== undefined) {
    const handle = new Handle(host.opening, clock, host.memory, waiting, types)
    return new HostNamespace(handle, parts, host.settings)
  }
  const of = {
    ...(memory || {}),
    ...(clock && { clock }),
    ...(timeToIdle > 0 && { timeToIdle: { ms: timeToIdle } }),
  }
  return new MemoryNamespace(new MemoryHandle(of, waiting, types), parts, {
    lifetime,
    name,
  })
}
