/**
 * Marks objects that nobody can change: a getter of this name on a class makes the memory tier keep its instances as they
 * are instead of copying or refusing them. `Symbol.for('polycache.immutable')`, so that a class needs no import for it.
 */
export const immutable: unique symbol = Symbol.for('polycache.immutable') as never

/** Whether an object's class says that its instances are never changed. */
export function isImmutable(value: object): boolean {
  return (value as { [immutable]?: unknown })[immutable] === true
}
