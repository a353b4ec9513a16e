/** Caches that were not closed and are no longer held. */
import { expect, test } from 'vitest'
import { folder } from './support/caches.ts'
import { COLLECT, runProgram } from './support/program.ts'

test('give their descriptors back', () => {
  const printed = runProgram(
    `
    import { readdirSync } from 'node:fs'
    const { Cache } = await source('index.ts')
    const open = () => readdirSync('/proc/self/fd').length
    const [folder] = process.argv.slice(-1)
    const use = (number) => {
      const cache = new Cache({ path: folder + '/' + number, limit: '2MiB' })
      cache.setSync('k', number)
      if (cache.namespace('n').getSync('k') !== undefined || cache.getSync('k') !== number) throw new Error('wrong')
    }
    const held = new Cache({ path: folder + '/held', limit: '2MiB' })
    held.setSync('k', 'held')
    const namespace = new Cache({ path: folder + '/namespace', limit: '2MiB' }).namespace('n')
    namespace.setSync('k', 'nested')
    const before = open()
    for (let number = 0; number < 40; number++) use(number)
    const most = open()
    for (let turn = 0; turn < 100 && open() > before + 2; turn++) {
      ${COLLECT}
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    console.log(JSON.stringify([most > before + 40, open() <= before + 2, held.getSync('k'), namespace.getSync('k')]))
    // A directory that was given back can be opened again.
    use(0)
    process.exit(0)`,
    folder(),
  )
  expect(JSON.parse(printed)).toEqual([true, true, 'held', 'nested'])
})

test('that were closed are closed once', () => {
  const printed = runProgram(
    `
    const { Cache } = await source('index.ts')
    const path = process.argv.at(-1)
    const shared = new Cache({ path, limit: '2MiB' })
    shared.setSync('k', 'v')
    const use = () => new Cache({ path, limit: '2MiB' }).closeSync()
    for (let number = 0; number < 20; number++) use()
    for (let turn = 0; turn < 10; turn++) {
      ${COLLECT}
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    console.log(shared.getSync('k'))
    process.exit(0)`,
    folder(),
  )
  expect(printed).toBe('v\n')
})
