/** A `cacheHandler` for Next 15 and 16: its pages, routes and fetches in a cache that all processes share. */
import type { Duration } from '../duration.ts'
import { InvalidArgument } from '../errors.ts'
import { checkNames } from '../option-names.ts'
import { Begun } from './next-begun.ts'
import { revalidated, type Tags, verdict } from './next-tags.ts'
import { type NextValue, plain, revived } from './next-values.ts'

/** What is asked of a cache; a `Cache` has it. Give it a namespace of its own. */
export interface NextStore {
  get(key: string): Promise<unknown>
  set(key: string, value: unknown, options?: { ttl: Duration }): Promise<unknown>
  getOrSet<T>(key: string, loader: () => T, options: { ttl: null }): Promise<T>
  update(
    key: string,
    change: (value: Tags | undefined) => Tags,
    options: { ttl: null },
  ): Promise<unknown>
}

/** Options of `nextCacheHandler`. */
export interface NextCacheHandlerOptions {
  /** Told of errors of the cache for which Next is told that there is no entry. Default: `console.error`. */
  readonly onError?: (error: unknown) => void
  /** Milliseconds since 1970, for tests. Default: the system's clock. */
  readonly clock?: () => number
}

/** How long an entry is fresh and may be served, in seconds; Next's own. */
export interface NextCacheControl {
  readonly revalidate: number | false
  readonly expire?: number | undefined
}

/** What `get` is told; Next's own. */
export interface NextGetContext {
  readonly kind?: string
  readonly revalidate?: number | false
  readonly tags?: readonly string[]
  readonly softTags?: readonly string[]
}

/** What `set` is told; Next's own. */
export interface NextSetContext {
  readonly fetchCache?: boolean
  readonly tags?: readonly string[]
  readonly cacheControl?: NextCacheControl | undefined
}

/** What `get` gives; Next's own. */
export interface NextEntry {
  readonly lastModified: number
  readonly value: NextValue | null
  readonly cacheControl?: NextCacheControl
}

/** The methods that Next calls. */
export interface NextCacheHandler {
  /** The entry of a key, or null; also where a tag of it was revalidated since, and where the cache fails. */
  get(key: string, context?: NextGetContext): Promise<NextEntry | null>
  /** Stores what Next has made; null for a page that is not found. */
  set(key: string, value: NextValue | null, context?: NextSetContext): Promise<void>
  /** Has the entries of tags made anew: at once, or, with `expire` in seconds, behind the old ones until then. */
  revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void>
  /** Does nothing: nothing is kept for one request. */
  resetRequestCache(): void
}

/** As it stands in the cache. */
interface Stored {
  readonly lastModified: number
  readonly tags: readonly string[]
  readonly value: NextValue | null
  readonly cacheControl?: NextCacheControl
}

const OPTIONS: ReadonlySet<string> = new Set<keyof NextCacheHandlerOptions>(['onError', 'clock'])
/** Where Next has the tags of a page or route. */
const TAGS_FIELD = 'x-next-cache-tags'
const TAGS = 'tags'
/** Before the keys of entries, so that none is that of the tags. */
const ENTRY = 'entry '

/**
 * A class for Next's option `cacheHandler`. Next makes an instance for each request; all of them use the cache, which processes of
 * several servers share by a directory or Redis. `revalidateTag` and `revalidatePath` reach all of them.
 *
 * ```ts
 * // cache-handler.mjs; next.config.mjs has cacheHandler: require.resolve('./cache-handler.mjs'), cacheMaxMemorySize: 0
 * export default nextCacheHandler(new Cache({ path: '/var/cache/site', namespace: 'next' }))
 * ```
 *
 * @throws InvalidArgument
 */
export function nextCacheHandler(
  cache: NextStore,
  options: NextCacheHandlerOptions = {},
): new (
  context?: unknown,
) => NextCacheHandler {
  checkNames(options, OPTIONS)
  if (typeof cache?.getOrSet !== 'function') throw new InvalidArgument('it takes a cache')
  const { onError = console.error, clock = Date.now } = options
  if (typeof onError !== 'function') throw new InvalidArgument('onError is a function')
  const fresh = () => ({ since: clock(), times: [] })
  const tagsNow = () => cache.getOrSet<Tags>(TAGS, fresh, { ttl: null })

  return class implements NextCacheHandler {
    readonly #begun = new Begun()

    async get(key: string, context: NextGetContext = {}): Promise<NextEntry | null> {
      try {
        return await this.#get(key, context)
      } catch (error) {
        // Next would answer 500. What is not there it makes anew, and of a `set` that fails it warns.
        onError(error)
        this.#begun.note(key, clock())
        return null
      }
    }

    async #get(key: string, context: NextGetContext): Promise<NextEntry | null> {
      const found = await cache.get(ENTRY + key)
      // There has to be a time since which revalidations are known before an entry is made.
      const known = await tagsNow()
      const now = clock()
      const entry = isStored(found) ? entryFor(found, known, context, now) : null
      if (entry === null || isDue(entry, context, now)) this.#begun.note(key, now)
      return entry
    }

    async set(key: string, value: NextValue | null, context: NextSetContext = {}): Promise<void> {
      await tagsNow()
      const { cacheControl } = context
      const stored: Stored = {
        lastModified: this.#begun.take(key, clock()),
        tags: tagsOf(value, context),
        value: value === null ? null : plain(value),
        ...(cacheControl !== undefined && { cacheControl: known(cacheControl) }),
      }
      const expire = cacheControl?.expire
      const ttl = expire === undefined ? undefined : { ttl: { ms: Math.max(1, expire * 1000) } }
      await cache.set(ENTRY + key, stored, ttl)
    }

    async revalidateTag(
      tags: string | readonly string[],
      durations?: { expire?: number },
    ): Promise<void> {
      const names = typeof tags === 'string' ? [tags] : tags
      if (names.length === 0) return
      const change = (before: Tags | undefined) =>
        revalidated(before ?? fresh(), names, clock(), durations)
      await cache.update(TAGS, change, { ttl: null })
    }

    /** Nothing is kept for one request alone. */
    resetRequestCache(): void {}
  }
}

function isStored(value: unknown): value is Stored {
  if (typeof value !== 'object' || value === null) return false
  const { lastModified, tags } = value as Partial<Stored>
  return typeof lastModified === 'number' && Array.isArray(tags)
}

/** What Next gets, or null where a tag says that it is gone. */
function entryFor(
  found: Stored,
  known: Tags,
  context: NextGetContext,
  now: number,
): NextEntry | null {
  const tags = [...found.tags, ...(context.tags ?? []), ...(context.softTags ?? [])]
  const said = verdict(known, tags, found.lastModified, now)
  if (said === 'gone') return null
  const entry = entryOf(found)
  return said === 'stale' ? stale(entry, context, now) : entry
}

function entryOf({ lastModified, value, cacheControl }: Stored): NextEntry {
  return {
    lastModified,
    value: value === null ? null : revived(value),
    ...(cacheControl !== undefined && { cacheControl }),
  }
}

function tagsOf(value: NextValue | null, { tags = [] }: NextSetContext): string[] {
  const headers = value?.headers as Record<string, unknown> | undefined
  const field = headers?.[TAGS_FIELD]
  const own = Array.isArray(value?.tags) ? (value.tags as string[]) : []
  const named = typeof field === 'string' ? field.split(',') : []
  return [...new Set([...tags, ...own, ...named])].filter((tag) => tag !== '')
}

function known({ revalidate, expire }: NextCacheControl): NextCacheControl {
  return expire === undefined ? { revalidate } : { revalidate, expire }
}

/** After how many seconds Next makes an entry anew. */
function secondsOf({ cacheControl, value }: NextEntry, context: NextGetContext) {
  const own = context.revalidate || (value?.revalidate as number | false | undefined)
  return cacheControl === undefined ? own : cacheControl.revalidate
}

/** Whether Next serves an entry and makes a new one behind it; it looks at the clock a little later. */
function isDue(entry: NextEntry, context: NextGetContext, now: number): boolean {
  const seconds = secondsOf(entry, context)
  return typeof seconds === 'number' && entry.lastModified + seconds * 1000 <= now + 1000
}

/** The entry as one whose time to be revalidated has come: Next serves it, and makes a new one behind it. */
function stale(entry: NextEntry, context: NextGetContext, now: number): NextEntry | null {
  const { cacheControl } = entry
  const seconds = secondsOf(entry, context)
  if (cacheControl === undefined && typeof seconds !== 'number') return null
  // One that is never revalidated by time is, this once, after a second.
  const after = typeof seconds === 'number' ? seconds : 1
  return {
    ...entry,
    lastModified: Math.min(entry.lastModified, now - after * 1000 - 1000),
    ...(cacheControl !== undefined && { cacheControl: { ...cacheControl, revalidate: after } }),
  }
}
