/** The exact least recently used policy, with times to live and weights: short, slow, and easy to see to be right. */

interface Entry {
  readonly value: number
  readonly weight: number
  /** 0 is for ever. */
  readonly ttl: number
  /** 0 is for ever. */
  readonly idle: number
  readonly written: number
  readonly used: number
}

export class LruModel {
  /** What is there, least recently used first. */
  readonly entries: Map<string, Entry> = new Map()
  readonly evicted: string[] = []
  readonly #maxEntries: number
  readonly #maxWeight: number

  constructor(maxEntries: number, maxWeight: number) {
    this.#maxEntries = maxEntries
    this.#maxWeight = maxWeight
  }

  get weight(): number {
    let weight = 0
    for (const entry of this.entries.values()) weight += entry.weight
    return weight
  }

  /** The entry, if it is served at a time; one that is not is freed. */
  find(key: string, now: number): Entry | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined || isServed(entry, now)) return entry
    this.entries.delete(key)
    return undefined
  }

  isServed(key: string, now: number): boolean {
    const entry = this.entries.get(key)
    return entry !== undefined && isServed(entry, now)
  }

  get(key: string, now: number): number | undefined {
    const entry = this.find(key, now)
    if (entry !== undefined) this.#use(key, { ...entry, used: now })
    return entry?.value
  }

  touch(key: string, ttl: number, now: number): boolean {
    const entry = this.find(key, now)
    if (entry === undefined) return false
    this.#use(key, { ...entry, ttl, written: now, used: now })
    return true
  }

  /** False when the entry is too heavy; then the old one is gone. */
  set(key: string, entry: Entry): boolean {
    this.entries.delete(key)
    if (entry.weight > this.#maxWeight) return false
    while (this.entries.size >= this.#maxEntries || this.weight + entry.weight > this.#maxWeight) {
      const [oldest] = this.entries.keys()
      this.entries.delete(oldest)
      this.evicted.push(oldest)
    }
    this.entries.set(key, entry)
    return true
  }

  purge(now: number): number {
    let purged = 0
    for (const [key, entry] of this.entries) {
      if (now >= endOf(entry) && this.entries.delete(key)) purged++
    }
    return purged
  }

  #use(key: string, entry: Entry): void {
    this.entries.delete(key)
    this.entries.set(key, entry)
  }
}

/** When its time is over: to live, or to idle. */
function endOf({ ttl, idle, written, used }: Entry): number {
  return Math.min(ttl === 0 ? Infinity : written + ttl, idle === 0 ? Infinity : used + idle)
}

function isServed(entry: Entry, now: number): boolean {
  const { ttl, idle, written, used } = entry
  // The clock may not stand well before the writing, or the last use where that counts.
  return (
    (ttl === 0 && idle === 0) || (now < endOf(entry) && now >= (idle === 0 ? written : used) - 1000)
  )
}
