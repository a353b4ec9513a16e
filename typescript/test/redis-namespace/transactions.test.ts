/** Transactions that end otherwise than by an EXEC that succeeds: every reply after them is as before. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Client, KINDS } from '../support/redis-clients.ts'
import { PROGRAMS, RedisServer } from '../support/redis-server.ts'

const [PROGRAM] = PROGRAMS

if (PROGRAM !== undefined) {
  for (const [kind, connect] of Object.entries(KINDS)) describe(kind, () => behaviour(connect))
}

function behaviour(connect: (port: number) => Promise<Client>): void {
  let server: RedisServer
  let bare: Client
  let own: Client
  let shop: Client

  beforeAll(async () => {
    server = await RedisServer.start(PROGRAM)
  })
  afterAll(() => server.stop())
  beforeEach(async () => {
    bare = await connect(server.port)
    await bare.call('FLUSHALL')
    await bare.call('RPUSH', 'shop:l', 'x', 'y', 'z')
    await bare.call('MSET', 'shop:s', 'v', 'other:s', 'v')
    own = await connect(server.port)
    shop = own.namespaced({ namespace: 'shop' })
  })
  afterEach(() => {
    bare.close()
    own.close()
  })

  /** Every kind of reply that has names, and what cannot be part of a transaction. */
  async function asBefore(): Promise<void> {
    expect(sorted(await shop.call('KEYS', '*'))).toEqual(['l', 's'])
    const first = await bare.call('LINDEX', 'shop:l', '0')
    expect(await shop.call('BLPOP', 'l', '1')).toEqual(['l', first])
    expect(sorted(((await shop.call('SCAN', '0')) as unknown[])[1])).toEqual(['l', 's'])
    expect(await shop.call('DBSIZE')).toBe(2)
    await shop.call('MULTI')
    await shop.call('KEYS', 's*')
    expect(await shop.call('EXEC')).toEqual([['s']])
  }

  const fails = (...words: string[]) => expect(shop.call(...words)).rejects.toThrow()

  test('an aborted EXEC', async () => {
    await shop.call('MULTI')
    await fails('SET', 'a')
    await fails('EXEC')
    await asBefore()
  })

  test('a watched key that changed', async () => {
    await shop.call('WATCH', 's')
    await bare.call('SET', 'shop:s', 'w')
    await shop.call('MULTI')
    await shop.call('KEYS', '*')
    expect(await shop.call('EXEC')).toBeNull()
    await asBefore()
  })

  test('MULTI and WATCH within MULTI change nothing', async () => {
    await shop.call('MULTI')
    await shop.call('KEYS', 's*')
    await fails('MULTI')
    await fails('WATCH', 's')
    expect(await shop.call('EXEC')).toEqual([['s']])
    await asBefore()
  })

  test.each([['DISCARD'], ['RESET']])('%s', async (ends) => {
    await shop.call('MULTI')
    await shop.call('KEYS', '*')
    await shop.call(ends)
    await asBefore()
  })

  test('the names of streams, after RESET', async () => {
    await shop.call('XADD', 'st', '1-1', 'f', 'v')
    await shop.call('RESET')
    const reply = await shop.call('XREAD', 'STREAMS', 'st', '0')
    expect(JSON.stringify(reply)).not.toContain('shop')
  })

  test('an error within EXEC', async () => {
    await shop.call('MULTI')
    await shop.call('INCR', 'l')
    await shop.call('KEYS', 's*')
    const replies = await shop.call('EXEC').catch(() => undefined)
    if (replies !== undefined) expect((replies as unknown[])[1]).toEqual(['s'])
    await asBefore()
  })

  test('a pipeline within a transaction', async () => {
    if (!shop.pipeline) return
    await shop.call('MULTI')
    expect(await shop.pipeline(['KEYS', 's*'], ['GET', 's'])).toEqual(['QUEUED', 'QUEUED'])
    expect(await shop.call('EXEC')).toEqual([['s'], 'v'])
    await asBefore()
  })

  test('a transaction in which other views of the connection send', async () => {
    const other = own.namespaced({ namespace: 'other' })
    await shop.call('MULTI')
    expect(await other.call('KEYS', '*')).toBe('QUEUED')
    expect(await shop.call('KEYS', 's*')).toBe('QUEUED')
    await expect(other.call('DBSIZE')).rejects.toMatchObject({ code: 'command_not_allowed' })
    expect(await other.call('EXEC')).toEqual([['s'], ['s']])
    await asBefore()
  })

  test('a transaction that is aborted as a whole', async () => {
    await expect(shop.transaction(['SET', 'a'], ['KEYS', '*'])).rejects.toThrow()
    await asBefore()
  })

  test('a separator', async () => {
    const app = own.namespaced({ namespace: 'app', separator: '-' })
    const inner = app.namespaced({ namespace: 'in' })
    await app.call('SET', 'k', '1')
    await inner.call('SET', 'k', '2')
    expect(await bare.call('MGET', 'app-k', 'app-in:k')).toEqual(['1', '2'])
    expect(sorted(await app.call('KEYS', '*'))).toEqual(['in:k', 'k'])
    expect(await inner.call('KEYS', '*')).toEqual(['k'])
    expect(await inner.call('DBSIZE')).toBe(1)
  })

  test('the server’s own channels tell nothing', async () => {
    for (const channel of ['__keyevent@0__:custom', '__redis__:invalidate']) {
      await expect(shop.call('PUBLISH', channel, 'k')).rejects.toMatchObject({
        code: 'invalid_argument',
      })
    }
  })
}

function sorted(names: unknown): string[] {
  return (names as string[]).sort()
}
