import { nameAll, PolycacheError } from '../errors.ts'

/** The reply of a command cannot be cached; the message says why. Send it by the client itself. */
export class UncacheableRead extends PolycacheError {
  readonly code = 'uncacheable_read'
}

nameAll({ UncacheableRead })
