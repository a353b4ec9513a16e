import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { CODINGS, Representation } from '../../src/http/index.ts'
import { resolveTier } from '../../src/memory/options.ts'
import { handedOut, KeptReplies } from '../../src/reads/kept.ts'
import { pack } from '../../src/reads/packed.ts'
import { room, settled } from '../../src/reads/room.ts'
import type { RemoteOperations } from '../../src/remote/native.ts'

function replies(isolation: 'freeze' | 'clone' | 'none'): KeptReplies {
  return new KeptReplies({} as RemoteOperations, 0, resolveTier({ isolation }))
}

it('needs the bytes of what can be changed alone', () => {
  for (const isolation of ['freeze', 'clone', 'none'] as const) {
    const kept = replies(isolation)
    for (const value of ['text', 1, null, undefined, 1n, true]) {
      expect(kept.needsBytes(value)).toBe(false)
      expect(handedOut(kept.isolate(value, undefined))).toBe(value)
    }
    expect(kept.needsBytes(Buffer.from('a')), isolation).toBe(true)
    expect(kept.needsBytes(['a', [Buffer.from('a')]]), isolation).toBe(true)
    expect(kept.needsBytes(['a', { b: 'c' }]), isolation).toBe(isolation !== 'freeze')
  }
})

it('freezes without bytes, and hands copies out with them', () => {
  const list = ['a', ['b']]
  const frozen = replies('freeze').isolate(list, undefined)
  expect(frozen).toBe(list)
  expect(Object.isFrozen(list[1])).toBe(true)
  const bytes = [Buffer.from('a')]
  const copied = replies('freeze').isolate(bytes, pack(bytes))
  expect(handedOut(copied)).toEqual(bytes)
  expect(handedOut(copied)).not.toBe(handedOut(copied))
})

it('gives as it is what has no bytes', () => {
  let nested: unknown[] = []
  for (let depth = 0; depth < 100_000; depth++) nested = [nested]
  expect(replies('freeze').needsBytes(nested)).toBe(true)
  expect(replies('freeze').isolate(nested, undefined)).toBe(nested)
})

it('lets a large buffer go', () => {
  const [small, large] = [room(), room(1024 * 1024 + 1)]
  expect(settled(small)).toBe(small)
  expect(settled(large).length).toBe(small.length)
})

it('counts what is made of representations that it keeps', async () => {
  const calls = { readStands: () => true, readKeep: () => {} }
  const memory = resolveTier({ isolation: 'freeze', maxBytes: 100_000 })
  const replies = new KeptReplies(calls as unknown as RemoteOperations, 0, memory)
  const ask = new Request('http://test.example/', { headers: { 'accept-encoding': 'gzip' } })
  const make = (call: string) => {
    const json = JSON.stringify(randomBytes(6_000).toString('hex'))
    const representation = new Representation(Buffer.from(json))
    replies.put(call, representation, representation.held)
  }
  const kept = () =>
    ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((call) => {
      const found = replies.get(call)
      return found instanceof Representation ? [found] : []
    })
  for (const call of ['a', 'b', 'c', 'd', 'e', 'f']) make(call)
  expect(kept()).toHaveLength(6)
  for (const representation of kept()) {
    for (const coding of CODINGS) await representation.encoded(coding)
    await representation.within('value', { n: 1 }).respond(ask)
  }
  const left = kept()
  expect(left.length).toBeGreaterThan(0)
  expect(left.reduce((sum, { held }) => sum + held, 0)).toBeLessThan(100_000)
  // One that alone has become too large leaves, and no other.
  const others = left.length
  make('a')
  const large = replies.get('a') as Representation
  large.within('x'.repeat(100_000))
  expect(replies.get('a')).toBeUndefined()
  expect(kept().length).toBeGreaterThanOrEqual(others - 1)
})
