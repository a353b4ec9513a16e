/** When tags were revalidated, for all processes that share a cache. */

/** A tag's times in ms since 1970: entries made before are stale, or gone once that time has come. */
export interface TagTimes {
  readonly stale?: number
  readonly expired?: number
}

/**
 * All tags in one entry. If the cache loses it, every entry that is older than the next one is gone: a revalidation is
 * never forgotten.
 */
export interface Tags {
  /** Entries made before count as gone: nobody knows any more what was revalidated then. */
  readonly since: number
  /** Pairs, because names of tags are anyone's. */
  readonly times: readonly (readonly [tag: string, times: TagTimes])[]
}

/** What tags say of an entry. */
export type Verdict = 'current' | 'stale' | 'gone'

/** Most tags that are remembered one by one. */
const MOST = 1000

/** What the tags say of an entry that was made at a time. */
export function verdict(tags: Tags, names: readonly string[], made: number, now: number): Verdict {
  if (made < tags.since) return 'gone'
  let found: Verdict = 'current'
  const asked = new Set(names)
  for (const [name, { stale, expired }] of tags.times) {
    if (!asked.has(name)) continue
    if (expired !== undefined && expired <= now && expired >= made) return 'gone'
    if (stale !== undefined && stale >= made) found = 'stale'
  }
  return found
}

/** The tags after a revalidation. `expire` is in how many seconds the entries are gone; undefined: when they are replaced. */
export function revalidated(
  tags: Tags,
  names: readonly string[],
  now: number,
  durations: { readonly expire?: number } | undefined,
): Tags {
  const known = new Map(tags.times)
  for (const name of names) {
    const before = known.get(name)
    // The last ones are those that were revalidated last.
    known.delete(name)
    known.set(name, timesAfter(before, now, durations))
  }
  return forgetful({ since: tags.since, times: [...known] })
}

function timesAfter(
  before: TagTimes | undefined,
  now: number,
  durations: { readonly expire?: number } | undefined,
): TagTimes {
  if (durations === undefined) return { ...before, expired: now }
  const { expire } = durations
  return { ...before, stale: now, ...(expire !== undefined && { expired: now + expire * 1000 }) }
}

/** Forgets the oldest tags where there are too many: all that was made before their times is gone instead. */
function forgetful({ since, times }: Tags): Tags {
  if (times.length <= MOST) return { since, times }
  const forgotten = times.slice(0, times.length - MOST / 2)
  const latest = forgotten.map(([, { stale = 0, expired = 0 }]) => Math.max(stale, expired))
  return { since: Math.max(since, ...latest) + 1, times: times.slice(forgotten.length) }
}
