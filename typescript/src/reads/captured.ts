import { InvalidArgument } from '../errors.ts'
import type { Members } from '../redis-namespace/forward.ts'

type Method = (...given: readonly unknown[]) => unknown

/** Calls a method of a view that sends nothing, for the command that it makes. */
export function captured(view: Members, method: string, given: readonly unknown[]): unknown {
  if (given.some((one) => typeof one === 'function')) {
    throw new InvalidArgument('cached reads return promises, and take no callbacks')
  }
  return (view[method] as Method).apply(view, given as unknown[])
}
