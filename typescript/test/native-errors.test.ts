/** Errors of the native part, which is loaded once for all contexts of a process. */
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { typed } from '../src/host/native.ts'
import { EntryTooLarge, NoSpace } from '../src/index.ts'

test('are typed where the program runs in another context, as Jest has its tests', () => {
  const full = runInNewContext(String.raw`new Error('no_space\n\n\nthe disk is full')`)
  expect(full).not.toBeInstanceOf(Error)
  expect(typed(full)).toBeInstanceOf(NoSpace)
  expect(typed(full)).toHaveProperty('message', 'the disk is full')
  const large = runInNewContext(String.raw`new Error('entry_too_large\n9\n8\ntoo large')`)
  expect(typed(large)).toBeInstanceOf(EntryTooLarge)
  expect(typed(large)).toMatchObject({ size: 9, limit: 8 })
})

test('what is not an error of the native part is passed on', () => {
  const other = new RangeError('of the engine')
  for (const thrown of [other, 'text', undefined]) expect(typed(thrown)).toBe(thrown)
})
