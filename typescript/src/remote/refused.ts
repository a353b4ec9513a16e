import { InvalidArgument } from '../errors.ts'

/** The error for a setting of a client that has no native form. */
export function refused(setting: string): InvalidArgument {
  return new InvalidArgument(
    `remote is a client whose ${setting} cannot be taken over: give the URL of the server, or a client without it`,
  )
}
