/** A cache for a handler's own answers: shared, so it never gives one user's private answer to another. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { type Duration, milliseconds } from '../duration.ts'
import { InvalidArgument } from '../errors.ts'
import { checkNames } from '../option-names.ts'
import { bytes } from '../size.ts'
import { answersOf, type HandedOut } from './answers-of.ts'
import { directivesOf } from './directives.ts'
import { readBody } from './limited-body.ts'
import { checkedName, type RespondOptions } from './policy.ts'
import { problemAnswer } from './problem.ts'
import { keyOf, seenBy } from './request-key.ts'
import { ageOf, type Defaults, lifetimeOf, type Refusal } from './storable.ts'
import {
  isEntry,
  type Passing,
  type StoredAnswer,
  sinceOf,
  storedAnswer,
  usefulUntil,
} from './stored-answer.ts'
import { toResponse } from './web.ts'

/**
 * What is asked of a cache; a `Cache` has it. Give it a namespace of its own, and `memory: { isolation: 'none' }`: what is read is
 * never changed.
 */
export interface AnswerStore {
  get(key: string): Promise<unknown>
  set(key: string, value: string, options: { ttl: Duration }): Promise<unknown>
  entry(key: string): Promise<{ readonly value: unknown; readonly version: bigint } | undefined>
  getOrSet<T>(key: string, loader: () => Promise<T>, options: { ttl: Duration }): Promise<T>
  compareAndSet(
    key: string,
    version: bigint,
    value: unknown,
    options: { ttl: Duration },
  ): Promise<boolean>
  touch(key: string, ttl: Duration): Promise<boolean>
  delete(key: string): Promise<boolean>
  deletePrefix(prefix: string): Promise<number>
  lease(key: string): { acquire(wait: boolean): Promise<boolean>; release(): Promise<void> }
}

/** A handler of the Web's Request. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

/** Options of `responseCache`. */
export interface ResponseCacheOptions extends Pick<RespondOptions, 'codings' | 'compressFrom'> {
  /**
   * What the answer is stored under, in place of the request's URL; the fields of `vary` are added. Undefined for a request that is not
   * cached. Default: the URL.
   */
  readonly key?: (request: Request) => string | undefined
  /** Request fields that belong to the key: each value has answers of its own. Default: none. */
  readonly vary?: readonly string[]
  /**
   * Request fields that `key` stands for, or that no answer depends on. Without `authorization` or `cookie` in `vary` or
   * here, a request that has one is not cached. Default: none.
   */
  readonly covered?: readonly string[]
  /** How long an answer is fresh that does not say so. Default: none; it is not stored. */
  readonly ttl?: Duration
  /** How long after that it is served while a newer one is fetched, unless it says so itself. Default: not at all. */
  readonly staleWhileRevalidate?: Duration
  /** How long after that it is served while the handler fails, unless it says so itself. Default: not at all. */
  readonly staleIfError?: Duration
  /** Bytes of the largest body that is stored, a number or text; larger ones pass through. Default: 1MiB. */
  readonly maxBody?: number | string
  /** Whether answers say what the cache did, by the field Cache-Status (RFC 9211). Default: true. */
  readonly cacheStatus?: boolean
  /**
   * Told of a handler's errors while a stale answer is served in its place, and of the cache's. Default: `console.error`.
   */
  readonly onError?: (error: unknown) => void
  /** Milliseconds since 1970, for tests. Default: the system's clock. */
  readonly clock?: () => number
}

const OPTIONS: ReadonlySet<string> = new Set<keyof ResponseCacheOptions>([
  'key',
  'vary',
  'covered',
  'ttl',
  'staleWhileRevalidate',
  'staleIfError',
  'maxBody',
  'cacheStatus',
  'onError',
  'clock',
  'codings',
  'compressFrom',
])

/** How long a load may keep what it loaded until its own lifetime is written down. */
const AT_MOST = { ms: 86_400_000 }
/** How long a key passes by whose answer could not be stored: callers do not queue for what each has to ask for itself. */
const PASS = 10_000
const PASS_AFTER_FAILURE = 1000
/** Behind a key and before the version of what may not be served: what is loaded in its place lies here for callers that found the same. */
const AGAIN = '#again'
const AGAIN_FOR = { ms: 1000 }
/** Before a key without the values of fields: what is written there when its answers are forgotten. */
const CHANGED = 'changed '
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** What stands under a key. */
type Versioned = { readonly value: unknown; readonly version: bigint }

/** What a handler brought: an answer that is stored, or one that is for its own caller alone. */
type Made =
  | { readonly entry: StoredAnswer }
  | { readonly reason: Refusal; readonly response: Response }
  | { readonly reason: 'failed'; readonly error: unknown }

/**
 * Puts a cache before a handler (RFC 9111, a shared cache).
 *
 * - Stored are complete answers to GET that say how long they are fresh (or `ttl` does), without Set-Cookie, `private`, `no-store` and
 *   `no-cache`, whose Vary names only what is in the key. HEAD, conditions and Accept-Encoding are answered from them.
 * - For an answer that may be stored, the handler sees only those request fields that belong to the key or are `covered`. So it
 *   cannot make the answer of anything else. Nor does it see what the request's code keeps in an `AsyncLocalStorage`: it runs in the
 *   context in which the cache was made. Where its answer cannot be stored after all, it is asked once more, with all fields and there.
 * - Of all callers of this machine one asks the handler, by `cache.getOrSet`.
 * - A request that is not GET or HEAD passes; if it succeeds, the answers of its URL are forgotten (RFC 9111 4.4).
 * - Where the cache fails, the handler answers.
 *
 * ```ts
 * const handler = responseCache(new Cache({ namespace: 'pages' }), render, { vary: ['accept-language'], ttl: '10s' })
 * ```
 *
 * @throws InvalidArgument
 */
export function responseCache(
  cache: AnswerStore,
  handler: FetchHandler,
  options: ResponseCacheOptions = {},
): (request: Request) => Promise<Response> {
  checkNames(options, OPTIONS)
  if (typeof handler !== 'function') throw new InvalidArgument('the handler is a function')
  const before = new ResponseCache(cache, handler, options)
  return (request) => before.answer(request)
}

class ResponseCache {
  readonly #cache: AnswerStore
  readonly #handler: FetchHandler
  readonly #keyOf: (request: Request) => string | undefined
  readonly #vary: readonly string[]
  /** In the key, or covered. */
  readonly #keyed: ReadonlySet<string>
  readonly #defaults: Defaults
  readonly #maxBody: number
  readonly #onError: (error: unknown) => void
  readonly #now: () => number
  readonly #handOut: HandedOut
  /** Runs a function in the asynchronous context in which the cache was made. */
  readonly #outside: <T>(run: () => T) => T
  /** Keys that this process fetches anew behind stale answers. */
  readonly #refreshing: Set<string> = new Set()

  constructor(cache: AnswerStore, handler: FetchHandler, options: ResponseCacheOptions) {
    this.#cache = cache
    this.#handler = handler
    this.#keyOf = options.key ?? (({ url }) => url.split('#', 1)[0])
    this.#vary = [...new Set((options.vary ?? []).map(checkedName))].sort()
    this.#keyed = new Set([...this.#vary, ...(options.covered ?? []).map(checkedName)])
    const seconds = (name: 'ttl' | 'staleWhileRevalidate' | 'staleIfError') =>
      options[name] === undefined ? undefined : milliseconds(options[name], name) / 1000
    this.#defaults = {
      fresh: seconds('ttl'),
      whileRevalidate: seconds('staleWhileRevalidate') ?? 0,
      ifError: seconds('staleIfError') ?? 0,
    }
    this.#maxBody = bytes(options.maxBody ?? '1MiB', 'maxBody')
    this.#onError = options.onError ?? console.error
    this.#now = options.clock ?? Date.now
    this.#handOut = answersOf(options, this.#vary, this.#now)
    this.#outside = contextOf()
  }

  async answer(request: Request): Promise<Response> {
    const { method } = request
    if (method !== 'GET' && method !== 'HEAD') return this.#pass(request, 'method')
    const given = this.#keyOf(request)
    const refusal = given === undefined ? 'key' : this.#refusal(request)
    if (given === undefined || refusal !== undefined) return this.#pass(request, refusal ?? 'key')
    const base = keyOf(given, request, undefined)
    const key = keyOf(given, request, this.#vary)
    let found: unknown
    try {
      found = await this.#cache.get(key)
    } catch (error) {
      return this.#withoutCache(request, error)
    }
    if (!isEntry(found)) return this.#missed(base, key, request)
    const now = this.#now()
    if ('pass' in found) {
      return now < found.until ? this.#pass(request, found.pass) : this.#stale(base, key, request)
    }
    if (now < found.freshUntil) return this.#handOut(key, found, request, 'hit')
    if (now >= found.revalidateUntil) return this.#stale(base, key, request)
    this.#refresh(key, request)
    return this.#handOut(key, found, request, 'hit; detail=stale-while-revalidate')
  }

  /** Why a request is neither answered from the cache nor its answer stored. */
  #refusal({ headers }: Request): string | undefined {
    const secret = ['authorization', 'cookie'].find(
      (name) => headers.has(name) && !this.#keyed.has(name),
    )
    if (secret !== undefined) return secret
    const single = ['upgrade', 'if-match', 'if-unmodified-since'].find((name) => headers.has(name))
    if (single !== undefined) return single
    return directivesOf(headers.get('cache-control')).has('no-store')
      ? 'request-no-store'
      : undefined
  }

  /** The handler's own answer, where there is no cache. */
  #withoutCache(request: Request, error: unknown): Promise<Response> {
    this.#onError(error)
    return this.#pass(request, 'cache')
  }

  /** The handler's own answer, to the whole request and for its sender alone. */
  async #pass(request: Request, why: string): Promise<Response> {
    const refused = onlyIfCached(request)
    if (refused !== undefined) return refused
    const response = await this.#handler(request)
    if (!SAFE.has(request.method) && response.status < 400) await this.#forgetGiven(request)
    return this.#handOut.tell(response, `fwd=${why === 'method' ? why : `bypass; detail=${why}`}`)
  }

  /** The handler's change was made, whatever becomes of the answers. */
  async #forgetGiven(request: Request): Promise<void> {
    try {
      const given = this.#keyOf(request)
      if (given !== undefined) await this.#forget(keyOf(given, request, undefined))
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Forgets the answers of a key for all values of the fields in it, of which a walk through the cache tells. */
  async #forget(base: string): Promise<void> {
    if (this.#vary.length === 0) {
      await this.#cache.delete(base)
      return
    }
    // Loads under way have no entry yet that the walk could find: they look at this before and after.
    await this.#cache.set(CHANGED + base, randomUUID(), { ttl: AT_MOST })
    await this.#cache.deletePrefix(base)
  }

  /** Differs after the answers of a key were forgotten. A delete of a key alone ends a load of it. */
  async #changed(base: string): Promise<string | undefined> {
    if (this.#vary.length === 0) return undefined
    const changed = await this.#cache.get(CHANGED + base)
    return typeof changed === 'string' ? changed : undefined
  }

  async #missed(base: string, key: string, request: Request): Promise<Response> {
    const refused = onlyIfCached(request)
    if (refused !== undefined) return refused
    // Of HEAD nothing would be learned that a GET could be answered with.
    if (request.method === 'HEAD') return this.#pass(request, 'method')
    const { made, loaded, error } = await this.#loaded(async (load) => {
      const before = await this.#changed(base)
      const loading = async () => {
        const entry = await load(this.#make(request))
        return before === undefined ? entry : { ...entry, since: before }
      }
      return { before, loaded: await this.#cache.getOrSet(key, loading, { ttl: AT_MOST }) }
    })
    if (made === undefined) {
      if (loaded === undefined) return this.#withoutCache(request, error)
      const { before, loaded: entry } = loaded
      // Of a load that began before a change of which this caller may know.
      if (isEntry(entry) && sinceOf(entry) !== before) return this.#pass(request, 'changed')
      return this.#joined(key, request, entry, undefined)
    }
    if (loaded === undefined) this.#onError(error)
    else await this.#settle(base, key, loaded.before, loaded.loaded)
    return this.#brought(key, request, made)
  }

  /** Writes down the lifetime of what was loaded, or deletes it if answers of the key were forgotten meanwhile. */
  async #settle(
    base: string,
    key: string,
    before: string | undefined,
    loaded: unknown,
  ): Promise<void> {
    try {
      if ((await this.#changed(base)) === before)
        await this.#cache.touch(key, this.#remaining(loaded))
      else await this.#cache.delete(key)
    } catch (error) {
      this.#onError(error)
      // Nobody knows whether answers of the key were forgotten meanwhile. (Without `vary` a delete has ended the load.)
      if (this.#vary.length > 0) await this.#cache.delete(key).catch(this.#onError)
    }
  }

  /** What `get` returned, and what it loaded for that if it did so itself; or the cache's error. */
  async #loaded<T>(
    get: (load: (making: Promise<Made>) => Promise<StoredAnswer | Passing>) => Promise<T>,
  ): Promise<{ readonly made?: Made; readonly loaded?: T; readonly error?: unknown }> {
    let made: Made | undefined
    const load = async (making: Promise<Made>) => {
      made = await making
      return this.#entryOf(made)
    }
    try {
      const loaded = await get(load)
      return { loaded, ...(made !== undefined && { made }) }
    } catch (error) {
      return { error, ...(made !== undefined && { made }) }
    }
  }

  /** Fetches anew what is there and may not be served; a stale answer stands in for a handler that fails. */
  async #stale(base: string, key: string, request: Request): Promise<Response> {
    const refused = onlyIfCached(request)
    if (refused !== undefined) return refused
    if (request.method === 'HEAD') return this.#pass(request, 'method')
    let before: Versioned | undefined
    try {
      before = await this.#cache.entry(key)
    } catch (error) {
      return this.#withoutCache(request, error)
    }
    // Deleted since it was found.
    if (before === undefined) return this.#missed(base, key, request)
    const { value, version } = before
    // Replaced by what may be served.
    if (this.#isCurrent(value)) return this.#joined(key, request, value, undefined)
    const stale = isAnswer(value) ? value : undefined
    // Only callers that found the same entry share the load: a later one finds what it stored.
    const again = `${key}${AGAIN}${version}`
    const { made, loaded, error } = await this.#loaded(async (load) => ({
      loaded: await this.#cache.getOrSet(again, () => load(this.#replace(key, before, request)), {
        ttl: AGAIN_FOR,
      }),
    }))
    if (made === undefined) {
      if (loaded === undefined) return this.#withoutCache(request, error)
      return this.#joined(key, request, loaded.loaded, stale)
    }
    if (loaded === undefined) this.#onError(error)
    if (!isFailure(made) || !this.#standsIn(stale)) return this.#brought(key, request, made)
    if ('error' in made) this.#onError(made.error)
    return this.#handOut(key, stale, request, 'hit; detail=stale-if-error')
  }

  #isCurrent(value: unknown): boolean {
    return isEntry(value) && this.#now() < ('pass' in value ? value.until : value.freshUntil)
  }

  #standsIn(stale: StoredAnswer | undefined): stale is StoredAnswer {
    return stale !== undefined && this.#now() < stale.errorUntil
  }

  /** What a caller gets that waited for another's load: never an answer that was for the other alone. */
  #joined(
    key: string,
    request: Request,
    loaded: unknown,
    stale: StoredAnswer | undefined,
  ): Response | Promise<Response> {
    if (!isEntry(loaded)) return this.#pass(request, 'foreign')
    if (!('pass' in loaded)) return this.#handOut(key, loaded, request, 'hit; collapsed')
    const failed = loaded.pass === 'failed' || loaded.pass === 'server-error'
    if (failed && this.#standsIn(stale))
      return this.#handOut(key, stale, request, 'hit; detail=stale-if-error')
    return this.#pass(request, loaded.pass)
  }

  /**
   * What the caller gets whose request was loaded for. What cannot be stored was made without the fields that only this
   * request has, so the handler is asked again with all of them.
   */
  async #brought(key: string, request: Request, made: Made): Promise<Response> {
    if ('entry' in made) return this.#handOut(key, made.entry, request, 'fwd=miss; stored')
    if ('response' in made) await made.response.body?.cancel()
    return this.#pass(request, made.reason)
  }

  /** Fetches anew behind a stale answer, once on this machine. */
  #refresh(key: string, request: Request): void {
    if (this.#refreshing.has(key)) return
    this.#refreshing.add(key)
    this.#refreshed(key, request)
      .catch(this.#onError)
      .finally(() => this.#refreshing.delete(key))
  }

  async #refreshed(key: string, request: Request): Promise<void> {
    const lease = this.#cache.lease(key)
    if (!(await lease.acquire(false))) return
    try {
      const before = await this.#cache.entry(key)
      // Deleted since it was found: what is made now could not be stored.
      if (before === undefined) return
      const made = await this.#replace(key, before, request)
      if ('response' in made) await made.response.body?.cancel()
      if ('error' in made) throw made.error
    } finally {
      await lease.release()
    }
  }

  /** Asks the handler, and replaces what is stored by what it brings; a failure leaves it. Who deletes it meanwhile wins. */
  async #replace(key: string, before: Versioned, request: Request): Promise<Made> {
    const made = await this.#make(request)
    if (isFailure(made) && isAnswer(before.value)) return made
    const entry = this.#entryOf(made)
    const ttl = this.#remaining(entry)
    await this.#cache.compareAndSet(key, before.version, entry, { ttl }).catch(this.#onError)
    return made
  }

  /** Asks the handler as one who knows only what belongs to the key. Its body may be made while it is read, so that is done there, too. */
  #make(request: Request): Promise<Made> {
    return this.#outside(() => this.#made(request))
  }

  async #made(request: Request): Promise<Made> {
    try {
      const response = await this.#handler(seenBy(request, this.#keyed))
      const { status, headers } = response
      const now = this.#now()
      const lifetime = lifetimeOf(status, headers, this.#keyed, this.#defaults, now)
      if (typeof lifetime === 'string') return { reason: lifetime, response }
      const body = await readBody(response, this.#maxBody)
      if (!(body instanceof Uint8Array)) return { reason: 'too-large', response: body.streaming }
      const length = headers.get('content-length')
      if (length !== null && Number(length) !== body.length)
        throw new InvalidArgument(`the handler's body has ${body.length} bytes and not ${length}`)
      return { entry: storedAnswer(status, headers, body, lifetime, ageOf(headers), now) }
    } catch (error) {
      return { reason: 'failed', error }
    }
  }

  #entryOf(made: Made): StoredAnswer | Passing {
    if ('entry' in made) return made.entry
    const ms = isFailure(made) ? PASS_AFTER_FAILURE : PASS
    return { pass: made.reason, until: this.#now() + ms }
  }

  #remaining(entry: unknown): Duration {
    if (!isEntry(entry)) return { ms: 1 }
    return { ms: Math.max(1, usefulUntil(entry) - this.#now()) }
  }
}

/** Some run times have `node:async_hooks` without snapshots; there the caller's context is seen. */
function contextOf(): <T>(run: () => T) => T {
  const { snapshot } = AsyncLocalStorage as Partial<typeof AsyncLocalStorage>
  return snapshot === undefined ? (run) => run() : AsyncLocalStorage.snapshot()
}

function isFailure(made: Made): boolean {
  return 'reason' in made && (made.reason === 'failed' || made.reason === 'server-error')
}

function isAnswer(value: unknown): value is StoredAnswer {
  return isEntry(value) && !('pass' in value)
}

/** RFC 9111 5.2.1.7. */
function onlyIfCached({ method, headers }: Request): Response | undefined {
  if (!directivesOf(headers.get('cache-control')).has('only-if-cached')) return undefined
  return toResponse(
    problemAnswer(504, method, 'It is not in the cache, and only that was asked for.'),
  )
}
