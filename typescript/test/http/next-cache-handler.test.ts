/** The methods that Next calls, with the values and contexts of Next 16 (`dist/server/response-cache/types.d.ts`). */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type NextCacheHandler, nextCacheHandler } from '../../src/http/index.ts'
import { Begun } from '../../src/http/next-begun.ts'
import type { NextValue } from '../../src/http/next-values.ts'
import { Cache, Closed, InvalidArgument } from '../../src/index.ts'

const PAGE = {
  kind: 'APP_PAGE',
  html: '<p>page</p>',
  rscData: Buffer.from('rsc'),
  headers: { 'x-next-cache-tags': 'posts,_N_T_/layout,_N_T_/a', 'set-cookie': ['a=1', 'b=2'] },
  postponed: undefined,
  status: 200,
  segmentData: new Map([['/_tree', Buffer.from('tree')]]),
}
const ROUTE = {
  kind: 'APP_ROUTE',
  body: Buffer.from('{"a":1}'),
  status: 200,
  headers: { 'content-type': 'application/json' },
}
const PAGES = {
  kind: 'PAGES',
  html: '<p>old</p>',
  pageData: { pageProps: { n: null, list: [1, 'a'] } },
  headers: undefined,
  status: 200,
}
const FETCH = {
  kind: 'FETCH',
  data: { headers: { a: '1' }, body: 'eyJhIjoxfQ==', url: 'https://api.example/a', status: 200 },
  tags: ['posts'],
  revalidate: 60,
}
const FOR_PAGE = { kind: 'APP_PAGE', isFallback: false }
const CONTROL = { cacheControl: { revalidate: 60, expire: 3600 } }

describe.each(['memory', 'directory'])('in a cache in %s', (tier) => {
  let now: number
  let cache: Cache
  let path: string
  let one: NextCacheHandler
  /** Of another request, or another process. */
  let other: NextCacheHandler
  beforeEach(() => {
    now = Date.UTC(2026, 0, 1)
    path = mkdtempSync(join(tmpdir(), 'polycache-next-'))
    const clock = () => now
    cache = new Cache(tier === 'memory' ? { clock } : { path, clock, limit: '2MiB' })
    const Handler = nextCacheHandler(cache, { clock })
    one = new Handler({ dev: false, revalidatedTags: [] })
    other = new Handler({ dev: false, revalidatedTags: [] })
  })
  afterEach(() => {
    cache.close()
    rmSync(path, { recursive: true })
  })
  const setAll = async () => {
    await one.set('/a', PAGE, CONTROL)
    await one.set('/r', ROUTE, CONTROL)
    await one.set('/p', PAGES, CONTROL)
    await one.set('hash', FETCH, { fetchCache: true, tags: ['posts'] })
    now += 1000
  }

  test('what was read before a revalidation is not current after it', async () => {
    const FOREVER = { cacheControl: { revalidate: false as const } }
    const IN_A_MINUTE = { expire: 60 }
    // Not found, made anew by time, and made anew behind a stale one.
    for (const begin of [
      async () => undefined,
      async () => {
        await one.set('/a', PAGE, CONTROL)
        now += 61_000
      },
      async () => {
        await one.set('/a', PAGE, CONTROL)
        now += 10
        await one.revalidateTag('posts', IN_A_MINUTE)
      },
    ]) {
      await begin()
      await one.get('/a', FOR_PAGE)
      now += 20
      await other.revalidateTag('posts')
      now += 20
      await one.set('/a', { ...PAGE, html: 'old' }, FOREVER)
      expect(await other.get('/a', FOR_PAGE)).toBeNull()

      now += 20
      await one.get('/a', FOR_PAGE)
      now += 20
      await one.set('/a', { ...PAGE, html: 'new' }, FOREVER)
      expect((await other.get('/a', FOR_PAGE))?.value?.html).toBe('new')
    }
  })

  test('two that make the same both count from when the first began', async () => {
    await one.get('/a', FOR_PAGE)
    now += 20
    await other.revalidateTag('posts')
    now += 20
    await one.get('/a', FOR_PAGE)
    await one.set('/a', { ...PAGE, html: 'old' }, CONTROL)
    expect(await other.get('/a', FOR_PAGE)).toBeNull()
    await one.set('/a', { ...PAGE, html: 'new' }, CONTROL)
    expect((await other.get('/a', FOR_PAGE))?.value?.html).toBe('new')
  })

  test('what one has set, another gets, as Next has made it', async () => {
    await setAll()
    const page = await other.get('/a', FOR_PAGE)
    expect(page).toEqual({
      lastModified: now - 1000,
      value: { ...PAGE, postponed: undefined },
      ...CONTROL,
    })
    expect(Buffer.isBuffer(page?.value?.rscData)).toBe(true)
    expect(page?.value?.segmentData).toEqual(PAGE.segmentData)
    expect((await other.get('/r'))?.value).toEqual(ROUTE)
    expect(Buffer.isBuffer((await other.get('/r'))?.value?.body)).toBe(true)
    expect((await other.get('/p'))?.value).toEqual(PAGES)
    expect((await other.get('hash', { kind: 'FETCH', tags: ['posts'] }))?.value).toEqual(FETCH)
    expect(await other.get('/b', FOR_PAGE)).toBeNull()
  })

  test('null is a value: the page is not found', async () => {
    await one.set('/none', null, CONTROL)
    expect(await other.get('/none')).toMatchObject({ value: null })
  })

  test('expire is the end of an entry', async () => {
    await one.set('/a', PAGE, { cacheControl: { revalidate: 1, expire: 5 } })
    now += 4999
    expect(await other.get('/a')).not.toBeNull()
    now += 2
    expect(await other.get('/a')).toBeNull()
  })

  test('a tag without durations: its entries are gone, for all', async () => {
    await setAll()
    await one.revalidateTag('posts')
    expect(await other.get('/a', FOR_PAGE)).toBeNull()
    expect(await other.get('hash', { kind: 'FETCH', tags: ['posts'] })).toBeNull()
    expect(await other.get('/r')).not.toBeNull()
    now += 1
    await one.set('/a', PAGE, CONTROL)
    expect(await other.get('/a', FOR_PAGE)).not.toBeNull()
  })

  test('an entry of the very millisecond of the revalidation is gone', async () => {
    await one.set('/a', PAGE, CONTROL)
    await one.revalidateTag('posts')
    expect(await other.get('/a', FOR_PAGE)).toBeNull()
  })

  test('a path is a tag: of pages by their field, of fetches by what get is told', async () => {
    await setAll()
    await one.revalidateTag(['_N_T_/a'])
    expect(await other.get('/a', FOR_PAGE)).toBeNull()
    const context = { kind: 'FETCH', tags: ['posts'], softTags: ['_N_T_/a'] }
    expect(await other.get('hash', context)).toBeNull()
    expect(await other.get('hash', { ...context, softTags: ['_N_T_/b'] })).not.toBeNull()
  })

  test('with durations its entries are stale at once, and gone when the time has come', async () => {
    await setAll()
    await one.revalidateTag('posts', { expire: 10 })
    const page = await other.get('/a', FOR_PAGE)
    expect(page?.value).toEqual({ ...PAGE, postponed: undefined })
    // By Next's own reckoning it is to be revalidated, and has not expired.
    expect(page!.lastModified + 60_000).toBeLessThan(now)
    expect(page!.lastModified + 3_600_000).toBeGreaterThan(now)
    const fetched = await other.get('hash', { kind: 'FETCH', tags: ['posts'], revalidate: 60 })
    expect(fetched!.lastModified + 60_000).toBeLessThan(now)
    now += 10_000
    expect(await other.get('/a', FOR_PAGE)).toBeNull()
  })

  test('what is never revalidated by time is, by a tag', async () => {
    await one.set('/a', PAGE, { cacheControl: { revalidate: false } })
    now += 1000
    await one.revalidateTag('posts', {})
    const page = await other.get('/a', FOR_PAGE)
    expect(page?.cacheControl).toEqual({ revalidate: 1 })
    expect(page!.lastModified + 1000).toBeLessThan(now)
  })

  test('a revalidation is never forgotten, neither when its record is lost nor when there are too many', async () => {
    await setAll()
    await one.revalidateTag('posts')
    cache.deleteSync('tags')
    expect(await other.get('/a', FOR_PAGE)).toBeNull()
    now += 1
    await one.set('/a', PAGE, CONTROL)
    expect(await other.get('/a', FOR_PAGE)).not.toBeNull()
    now += 1
    await one.revalidateTag('posts')
    for (let batch = 0; batch < 4; batch++) {
      now += 1
      await one.revalidateTag(Array.from({ length: 400 }, (_, n) => `tag ${batch} ${n}`))
    }
    expect(await other.get('/a', FOR_PAGE)).toBeNull()
    now += 10
    await one.set('/a', PAGE, CONTROL)
    expect(await other.get('/a', FOR_PAGE)).not.toBeNull()
  })

  test('an entry cannot have the key of the tags, nor a tag the name of a member', async () => {
    await one.set('tags', ROUTE, CONTROL)
    now += 1
    await one.revalidateTag(['__proto__', 'constructor'])
    expect((await other.get('tags'))?.value).toEqual(ROUTE)
    const tagged: NextValue = { ...ROUTE, headers: { 'x-next-cache-tags': 'toString' } }
    await one.set('/t', tagged, CONTROL)
    expect((await other.get('/t'))?.value).toEqual(tagged)
  })
})

test('where the cache fails, Next makes the page, and the program is told', async () => {
  const errors: unknown[] = []
  const cache = new Cache()
  const Handler = nextCacheHandler(cache, { onError: (error) => errors.push(error) })
  const handler = new Handler()
  await handler.set('/a', ROUTE, CONTROL)
  await cache.close()
  expect(await handler.get('/a')).toBeNull()
  expect(errors).toEqual([expect.any(Closed)])
  // A revalidation that did not happen must not look like one that did.
  await expect(handler.revalidateTag('posts')).rejects.toThrow(Closed)
})

test('refuses what is no cache, and unknown options', () => {
  expect(() => nextCacheHandler({} as never)).toThrow(InvalidArgument)
  expect(() => nextCacheHandler(new Cache(), { colour: 1 } as never)).toThrow(InvalidArgument)
})

test('times of what is never stored are forgotten, in number and after a while', () => {
  const begun = new Begun()
  for (let at = 0; at < 3000; at++) begun.note(`/${at}`, at)
  expect([begun.take('/0', 5000), begun.take('/2999', 5000)]).toEqual([5000, 2999])
  for (let at = 0; at < 3000; at++) begun.note('/a', at)
  expect([begun.take('/a', 5000), begun.take('/a', 5000)]).toEqual([2000, 2001])
  expect(begun.take('/a', 700_000)).toBe(700_000)
})
