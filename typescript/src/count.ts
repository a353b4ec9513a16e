import type { AnyNamespace, AwaitedNamespace } from './any-namespace.ts'
import { InvalidArgument } from './errors.ts'
import { given } from './expiry.ts'
import type { Key } from './key.ts'
import { checkNames, shown } from './option-names.ts'
import type { IncrementOptions } from './options.ts'

const OPTIONS: ReadonlySet<string> = new Set<keyof IncrementOptions>([
  'initial',
  'ttl',
  'expiresAt',
])

/** What a call adds to a key's integer, or subtracts from it. */
export interface Counting {
  readonly key: Key
  readonly by: number | bigint
  readonly subtracts: boolean
  readonly options: IncrementOptions | undefined
}

/** Adds to a key's integer, or subtracts from it; returns the sum as `get` would. */
export function count(namespace: AnyNamespace, counting: Counting): number | bigint {
  return asRead(namespace.increment(...checked(namespace, counting)))
}

/** Like `count`. */
export async function countAside(
  namespace: AwaitedNamespace,
  counting: Counting,
): Promise<number | bigint> {
  return asRead(await namespace.increment(...checked(namespace, counting)))
}

/** @throws InvalidKey, InvalidArgument */
function checked(
  namespace: Pick<AnyNamespace, 'checkKey' | 'settings'>,
  { key, by, subtracts, options = {} }: Counting,
): Parameters<AnyNamespace['increment']> {
  namespace.checkKey(key)
  checkNames(options, OPTIONS)
  const { initial = 0 } = options
  const addend = { by: integer(by, 'by'), initial: integer(initial, 'initial'), subtracts }
  const ttl = given(options) ?? namespace.settings.lifetime.next()
  return [key, addend, ttl]
}

/** Whether an integer has 64 bits with a sign. */
export function fits(integer: bigint): boolean {
  return BigInt.asIntN(64, integer) === integer
}

/** An integer as a read gives it: a number where that is exact. */
export function asRead(integer: bigint): number | bigint {
  const number = Number(integer)
  return Number.isSafeInteger(number) ? number : integer
}

/** @throws InvalidArgument */
function integer(given: number | bigint, name: string): bigint {
  if (typeof given === 'bigint' && fits(given)) return given
  if (Number.isSafeInteger(given)) return BigInt(given)
  throw new InvalidArgument(
    `${name} is ${shown(given)}: write a whole number, as a bigint beyond 2^53, from -2^63 to 2^63 - 1`,
  )
}
