/** A cache on a read-only mount, and the files' mode. */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Cache, InvalidArgument, ReadOnly } from '../src/index.ts'
import { folder, open } from './support/caches.ts'

/** The directory by another path, which may only be read; undefined where this user may not mount one. */
function readOnly(path: string): string | undefined {
  const at = folder()
  if (spawnSync('mount', ['--bind', path, at]).status !== 0) return undefined
  onTestFinished(() => {
    spawnSync('umount', ['-l', at])
  })
  expect(spawnSync('mount', ['-o', 'remount,ro,bind', at]).status).toBe(0)
  return at
}

test('a read-only mount serves hits, loads misses and refuses writes', async (context) => {
  const path = folder()
  const writer = open({ path, limit: '4MiB' })
  writer.setSync('k', { a: 1 })
  const at = readOnly(path)
  if (at === undefined) return context.skip('a read-only mount needs root')
  const cache = open({ path: at })
  // Many: what is compiled after some calls must not write either.
  for (let read = 0; read < 20_000; read++) {
    expect(cache.getSync('k')).toEqual({ a: 1 })
  }
  expect(await cache.get('k')).toEqual({ a: 1 })
  writer.setSync('k', 'text')
  expect(cache.getSync('k')).toBe('text')
  expect(cache.getSync('other')).toBeUndefined()
  let loads = 0
  for (let call = 0; call < 2; call++) {
    expect(await cache.getOrSet('other', async () => ++loads)).toBe(call + 1)
    expect(cache.getOrSetSync('third', () => 'loaded')).toBe('loaded')
  }
  for (const write of [
    () => cache.setSync('k', 1),
    () => cache.deleteSync('k'),
    () => cache.clearSync(),
    () => cache.takeSync('k'),
    () => cache.addSync('new', 1),
    () => cache.incrementSync('number'),
    () => cache.lease('k').acquireSync(),
  ]) {
    expect(write).toThrow(ReadOnly)
  }
  await expect(cache.set('k', 1)).rejects.toThrow(ReadOnly)
  await expect(cache.lease('k').acquire()).rejects.toThrow(ReadOnly)
  expect(cache.getSync('k')).toBe('text')
})

test('what is opened first says nothing of the next: each path is written or only read', async (context) => {
  const path = folder()
  open({ path }).setSync('k', 1)
  const at = readOnly(path)
  if (at === undefined) return context.skip('a read-only mount needs root')
  const first = open({ path: at })
  expect(() => first.setSync('k', 2)).toThrow(ReadOnly)
  const writer = open({ path })
  writer.setSync('k', 3)
  const second = open({ path: at })
  await expect(second.set('k', 4)).rejects.toThrow(ReadOnly)
  expect([first.getSync('k'), second.getSync('k')]).toEqual([3, 3])
  // The same path, which was read-only when it was opened first.
  spawnSync('mount', ['-o', 'remount,rw,bind', at])
  const third = open({ path: at })
  third.setSync('k', 5)
  expect(first.getSync('k')).toBe(5)
})

test('the mode is that of the files, and no other number is one', () => {
  const path = join(folder(), 'cache')
  for (const mode of [0o666, 660, -1, 1.5, '0o660', null, true]) {
    expect(() => new Cache({ path, mode: mode as number })).toThrow(InvalidArgument)
  }
  expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined()
  open({ path, limit: '4MiB', mode: 0o660 }).setSync('k', 1)
  expect(statSync(join(path, 'v2/index')).mode & 0o777).toBe(0o660)
  expect(open({ path }).getSync('k')).toBe(1)
  expect(statSync(join(path, 'v2/index')).mode & 0o777).toBe(0o660)
  open({ path, mode: 0o600 })
  expect(statSync(join(path, 'v2/index')).mode & 0o777).toBe(0o600)
  expect(() => new Cache({ mode: 0o660 })).toThrow(InvalidArgument)
})
