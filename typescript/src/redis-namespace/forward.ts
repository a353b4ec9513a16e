/** Something whose members are looked up by name. */
export type Members = Record<string, unknown>
type Method = (this: unknown, ...given: unknown[]) => unknown

/**
 * Gives a view the methods and accessors of its client, done on the client itself: what they change
 * is the client's, and private members are found. Where one gives the client, it gives the view.
 *
 * @param layer a part of the view that has them
 * @param names those that are not commands; commands run on the view
 */
export function forward(
  layer: object,
  view: object,
  client: object,
  names: Iterable<string>,
): void {
  const own = (result: unknown): unknown => {
    if (result === client) return view
    return result instanceof Promise ? result.then((one) => (one === client ? view : one)) : result
  }
  for (const name of names) {
    const found = descriptor(client, name)
    if (found === undefined) continue
    if (typeof found.value === 'function') {
      const method = found.value as Method
      define(layer, name, (...given: unknown[]) => own(method.apply(client, given)))
    } else if (found.get !== undefined || found.set !== undefined) {
      Object.defineProperty(layer, name, {
        configurable: true,
        get: () => Reflect.get(client, name),
        set: (value) => Reflect.set(client, name, value),
      })
    }
  }
}

/** Gives a view a member of its own, in a layer of it. */
export function define(layer: object, name: string, value: unknown): void {
  Object.defineProperty(layer, name, { configurable: true, writable: true, value })
}

/** Names of all members from an object up to Object's own, those of symbols left out. */
export function namesOf(from: object): Set<string> {
  const names = new Set<string>()
  for (const one of chain(from)) for (const name of Object.getOwnPropertyNames(one)) names.add(name)
  names.delete('constructor')
  return names
}

/** An object and its prototypes, without Object's. */
export function* chain(from: object): Generator<object> {
  for (let one: object | null = from; one && one !== Object.prototype; ) {
    yield one
    one = Object.getPrototypeOf(one) as object | null
  }
}

function descriptor(from: object, name: string): PropertyDescriptor | undefined {
  for (const one of chain(from)) {
    const found = Object.getOwnPropertyDescriptor(one, name)
    if (found !== undefined) return found
  }
  return undefined
}
