/** How `console.log` and `util.inspect` show the objects of this package, on Node and on Bun. */

/** The method that both look for. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

type Inspect = (value: unknown, options?: object) => string

/**
 * Shows an object as its class and some facts: `Cache { path: '/srv/cache', namespace: [ 'shop' ] }`. Facts that are
 * undefined are left out. It is a property of the object, because bundlers keep a class whose prototype is written to.
 */
export function showAs(object: object, facts: () => Readonly<Record<string, unknown>>): void {
  const value = (_depth: number, options: object, inspect: Inspect): string => {
    const known = Object.entries(facts()).filter(([, fact]) => fact !== undefined)
    // Shown whole at any depth, because it is small.
    const text = inspect(Object.fromEntries(known), { ...options, depth: 3 })
    return `${object.constructor.name} ${text}`
  }
  Object.defineProperty(object, INSPECT, { configurable: true, value })
}
