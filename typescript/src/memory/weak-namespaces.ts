/**
 * What caches hold for each namespace, by the prefix of its keys; the same for all that have it open. Programs may open
 * any number of namespaces, one after the other, so those no longer held go.
 */
export class WeakNamespaces<T extends object> {
  readonly #all = new Map<string, WeakRef<T>>()
  readonly #gone = new FinalizationRegistry<string>((prefix) => {
    if (this.#all.get(prefix)?.deref() === undefined) this.#all.delete(prefix)
  })

  /** What there is for a namespace, made when it is asked for first. */
  of(prefix: string, make: () => T): T {
    const there = this.#all.get(prefix)?.deref()
    if (there !== undefined) return there
    const made = make()
    this.#all.set(prefix, new WeakRef(made))
    this.#gone.register(made, prefix)
    return made
  }

  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (const held of this.#all.values()) {
      const there = held.deref()
      if (there !== undefined) yield there
    }
  }
}
