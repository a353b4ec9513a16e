/** When Next began to make what it then stores: data that it read before a revalidation is not current after it. */

/** Most keys, and most times of one, that are remembered by one instance of a handler; Next makes one for each request. */
const MOST = 1000
/** How long making takes at most, in ms: what was begun before and never stored has failed, or is not stored at all. */
const LONGEST = 600_000

/** The times at which keys were asked for in vain. */
export class Begun {
  readonly #times: Map<string, number[]> = new Map()

  /** A key is made from now on. */
  note(key: string, now: number): void {
    const times = this.#times.get(key) ?? []
    times.push(now)
    if (times.length > MOST) times.shift()
    // The last ones are those that were begun last.
    this.#times.delete(key)
    this.#times.set(key, times)
    if (this.#times.size > MOST) this.#times.delete(this.#times.keys().next().value!)
  }

  /** When the making of a key began that ends now. Of several it is the first: to be too early costs one more making, at most. */
  take(key: string, now: number): number {
    const times = (this.#times.get(key) ?? []).filter((time) => time >= now - LONGEST)
    const first = times.shift()
    if (times.length === 0) this.#times.delete(key)
    else this.#times.set(key, times)
    return first ?? now
  }
}
