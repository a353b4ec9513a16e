/** Header fields in the forms that servers take them, each made once. */

/** The header fields of an answer. Names are in lower case. */
export class Fields {
  /** Name, value, name, value, as `writeHead` of node:http takes them. */
  readonly list: readonly string[]
  #record: Record<string, string> | undefined

  constructor(list: readonly string[]) {
    this.list = list
  }

  /** By name. */
  get record(): Readonly<Record<string, string>> {
    this.#record ??= Object.fromEntries(pairs(this.list))
    return this.#record
  }
}

function* pairs(list: readonly string[]): Generator<[string, string]> {
  for (let at = 0; at < list.length; at += 2) yield [list[at], list[at + 1]]
}
