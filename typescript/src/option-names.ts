import { InvalidArgument } from './errors.ts'

/**
 * Refuses what is no option: a misspelt one would do nothing.
 * @throws InvalidArgument
 */
export function checkNames(options: object, known: ReadonlySet<string>): void {
  if (typeof options !== 'object' || options === null)
    throw new InvalidArgument('options are an object')
  for (const name of Object.keys(options)) {
    if (known.has(name)) continue
    throw new InvalidArgument(`there is no option ${name}; there are ${[...known].join(', ')}`)
  }
}
