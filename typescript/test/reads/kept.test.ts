import { expect, it } from 'vitest'
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
