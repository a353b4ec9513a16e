import type { AnyNamespace } from '../any-namespace.ts'
import { InvalidArgument } from '../errors.ts'
import type { RemoteNamespace } from './namespace.ts'

/** What is refused, and what to use instead. */
const TWINS = {
  get: 'get',
  find: 'getOrSet or getOrSetMany',
  peek: 'peek',
  entry: 'entry',
  put: 'set or setMany',
  touch: 'touch',
  add: 'add',
  replace: 'replace or compareAndSet',
  findToUpdate: 'update',
  increment: 'increment or decrement',
  take: 'take',
  delete: 'delete',
  has: 'has',
  ttl: 'ttl',
  load: 'getOrSet or getOrSetMany',
  keys: 'keys with for await',
  clear: 'clear',
} as const

/** A namespace on a server for callers that do not wait: all that asks the server is refused before anything is done. */
export function synchronous(
  awaited: RemoteNamespace,
  at: (parts: readonly string[]) => AnyNamespace,
): AnyNamespace {
  const refusals = Object.entries(TWINS).map(([name, twin]) => {
    const refuse = (): never => {
      throw new InvalidArgument(`a cache with \`remote\` answers asynchronously: use ${twin}`)
    }
    return [name, refuse]
  })
  const { handle, parts, settings } = awaited
  const rest = {
    awaited,
    handle,
    parts,
    settings,
    sleep: undefined,
    at,
    checkKey: awaited.checkKey.bind(awaited),
    identity: awaited.identity.bind(awaited),
    copyOf: awaited.copyOf.bind(awaited),
    lock: awaited.lock.bind(awaited),
    path: awaited.path.bind(awaited),
    holdings: awaited.holdings.bind(awaited),
    check: awaited.check.bind(awaited),
    flush: awaited.flush.bind(awaited),
  }
  return { ...rest, ...Object.fromEntries(refusals) } as AnyNamespace
}
