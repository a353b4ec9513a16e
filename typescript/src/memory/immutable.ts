/**
 * Marks classes whose instances cannot be changed: a property of this name on the prototype, with the value true, makes
 * the memory tier keep instances as they are instead of refusing them. It is `Symbol.for('polycache.immutable')`: a class
 * needs no import for it.
 */
export const immutable: unique symbol = Symbol.for('polycache.immutable') as never

/** Whether an object's class says that its instances are never changed. */
export function isImmutable(value: object): boolean {
  return (value as { [immutable]?: unknown })[immutable] === true
}
