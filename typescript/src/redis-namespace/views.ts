import type { NamespaceOptions } from './session.ts'

/** What a view was made of. */
export interface Origin<C extends object = object> {
  readonly client: C
  readonly options: NamespaceOptions
}

const origins = new WeakMap<object, Origin>()

/** Notes what a view was made of, and gives the view. */
export function viewOf<C extends object>(view: C, client: C, options: NamespaceOptions): C {
  origins.set(view, { client, options })
  return view
}

/** What a client was made of, if it is a view. */
export function originOf<C extends object>(client: C): Origin<C> | undefined {
  return origins.get(client) as Origin<C> | undefined
}
