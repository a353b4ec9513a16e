/** Directories that cannot be had: every error is typed. */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Cache, InvalidArgument, IoError } from '../src/index.ts'
import { folder } from './support/caches.ts'
import { failure } from './support/failure.ts'
import { runProgram } from './support/program.ts'

test.each(['a\0b', '\0', 'half a \ud800 pair'])('%j is not a path', (path) => {
  expect(failure(() => new Cache({ path }))).toBeInstanceOf(InvalidArgument)
})

describe('what the system refuses is an IoError', () => {
  test('a name that is too long', () => {
    const path = join(folder(), 'x'.repeat(300))
    expect(failure(() => new Cache({ path }))).toBeInstanceOf(IoError)
    expect(failure(() => new Cache({ path: `/${'long/'.repeat(2000)}` }))).toBeInstanceOf(IoError)
  })

  test('a folder without permission', () => {
    const path = join(folder(), 'closed')
    mkdirSync(path)
    chmodSync(path, 0o000)
    chmodSync(join(path, '..'), 0o755)
    const printed = runProgram(
      `
      const { Cache } = await source('index.ts')
      new Cache({}).closeSync()
      const { native } = await source('host/native.ts')
      native()
      // Root may do anything.
      if (process.getuid() === 0) process.seteuid(65534)
      try {
        new Cache({ path: process.argv.at(-1) + '/cache' })
      } catch (error) {
        console.log(error.name, error.code)
      }
      process.exit(0)`,
      path,
    )
    chmodSync(path, 0o755)
    expect(printed).toBe('IoError io\n')
  })
})
