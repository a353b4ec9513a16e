import type { AnyNamespace, AwaitedNamespace, Found } from './any-namespace.ts'
import { Conflict, InvalidArgument } from './errors.ts'
import { given } from './flight-sync.ts'
import type { Key } from './key.ts'
import { givenTtl, type UpdateOptions } from './options.ts'
import { follow } from './wait.ts'

/** What the function of an update returns to delete the key. */
export const DELETE: unique symbol = Symbol.for('polycache.DELETE')
/** What the function of an update returns to leave the key as it is. */
export const LEAVE: unique symbol = Symbol.for('polycache.LEAVE')

/** What the function of an update returns: a value, `DELETE` or `LEAVE`. */
export type Updated<T> = T | typeof DELETE | typeof LEAVE

/** How often an update calls its function before it is a `Conflict`. */
const ATTEMPTS = 100
/** The key was changed since it was read. */
const AGAIN = Symbol('again')

/** See `Cache.updateSync`. */
export function updateSync<T>(
  namespace: AnyNamespace,
  key: Key,
  work: (value: T | undefined) => Updated<T>,
  options: UpdateOptions | undefined,
): T | undefined {
  const ttl = check(namespace, key, work, options)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = namespace.findToUpdate(key)
    const updated = given(work(found.value as T | undefined), 'function', 'update')
    // What is found at once is stored at once.
    const done = carryOut<T>(found, updated, ttl) as T | undefined | typeof AGAIN
    if (done !== AGAIN) return done
  }
  throw conflict()
}

/** See `Cache.update`. */
export async function update<T>(
  namespace: AwaitedNamespace,
  key: Key,
  work: (value: T | undefined) => Updated<T> | PromiseLike<Updated<T>>,
  options: UpdateOptions | undefined,
): Promise<T | undefined> {
  const ttl = check(namespace, key, work, options)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const looked = namespace.findToUpdate(key)
    const found = looked instanceof Promise ? await looked : looked
    const changed = carryOut<T>(found, await work(found.value as T | undefined), ttl)
    const done = changed instanceof Promise ? await changed : changed
    if (done !== AGAIN) return done
  }
  throw conflict()
}

function check(
  namespace: Pick<AnyNamespace, 'checkKey'>,
  key: Key,
  work: unknown,
  options: UpdateOptions | undefined,
): number | undefined {
  namespace.checkKey(key)
  const ttl = givenTtl(options)
  if (typeof work !== 'function') throw new InvalidArgument('what updates a key is a function')
  return ttl
}

/** Does what the function said. */
function carryOut<T>(
  found: Found,
  updated: Updated<T>,
  ttl: number | undefined,
): T | undefined | typeof AGAIN | Promise<T | undefined | typeof AGAIN> {
  if (updated === LEAVE) return undefined
  if (updated === DELETE) return follow(found.delete(), (done) => (done ? undefined : AGAIN))
  return follow(found.set(updated, ttl), (stored) => (stored === undefined ? AGAIN : (stored as T)))
}

function conflict(): Conflict {
  return new Conflict(
    `others changed the key each of the ${ATTEMPTS} times that the update was tried: try again later, or change it in fewer places`,
  )
}
