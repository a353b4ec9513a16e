import { showAs } from '../inspect.ts'
import type { NamespaceOptions, Shared } from './session.ts'

/** What a view was made of. */
export interface Origin<C extends object = object> {
  readonly client: C
  readonly options: NamespaceOptions
}

const shared = new WeakMap<object, Shared>()

/** What all views of a client share. */
export function sharedOf(client: object): Shared {
  const known = shared.get(client) ?? {}
  shared.set(client, known)
  return known
}

const origins = new WeakMap<object, Origin>()

/**
 * An object between a view and its client, for what the view does in its own way. Engines make objects
 * with many members fast when they are prototypes.
 */
export function layered<C extends object>(client: C): { view: C; layer: object } {
  const layer = Object.create(client) as object
  return { layer, view: Object.create(layer) as C }
}

/** Notes what a view was made of, shows it when the view is inspected, and returns the view. */
export function viewOf<C extends object>(view: C, client: C, options: NamespaceOptions): C {
  origins.set(view, { client, options })
  // Not what the client shows of itself, passwords among it.
  showAs(view, () => ({ namespace: options.namespace }))
  return view
}

/** What a client was made of, if it is a view. */
export function originOf<C extends object>(client: C): Origin<C> | undefined {
  return origins.get(client) as Origin<C> | undefined
}
