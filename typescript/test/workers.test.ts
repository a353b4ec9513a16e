/** Worker threads: each opens the directory for itself. */
import { expect, test } from 'vitest'
import { folder } from './support/caches.ts'
import { runThreads } from './support/program.ts'

/** What a program does with `cache`, in a directory of its own. */
function run(text: string): void {
  const said = runThreads(
    `const cache = new Cache({ path: process.argv.at(-1), limit: '4MiB' })\n${text}\nconsole.log('done')`,
    () => [folder()],
  )
  expect(said.trim()).toBe('done')
}

test('they and the main thread share the cache', () => {
  run(`
    const workers = [start('worker.ts', cache.path), start('worker.ts', cache.path)]
    for (let turn = 0; turn < 50; turn++) {
      assert.deepEqual(await call(workers[0], 'set', 'k', { turn }), { turn })
      assert.deepEqual(cache.getSync('k'), { turn })
      assert.deepEqual(await call(workers[1], 'get', 'k'), { turn })
      cache.deleteSync('k')
      assert.equal(await call(workers[1], 'get', 'k'), null)
    }
    assert.equal(await call(workers[0], 'close'), 'closed')
    await workers[1].terminate()
    cache.setSync('k', 'still here')
    assert.equal(cache.getSync('k'), 'still here')
  `)
})

test('one that is terminated while it loads leaves the key to the next caller', () => {
  run(`
    const worker = start('worker.ts', cache.path)
    assert.equal(await call(worker, 'hold', 'k'), 'loading')
    const waiting = cache.getOrSet('k', () => 'own')
    await worker.terminate()
    assert.equal(await waiting, 'own')
    assert.equal(cache.getSync('k'), 'own')
  `)
})

test('many come and go', () => {
  run(`
    cache.setSync('k', 'v')
    for (let turn = 0; turn < 10; turn++) {
      const worker = start('worker.ts', cache.path)
      assert.equal(await call(worker, 'get', 'k'), 'v')
      await worker.terminate()
    }
    assert.equal(cache.getSync('k'), 'v')
    assert.deepEqual((await cache.check()).damaged, [])
  `)
})

test('counts of eight are not lost', () => {
  run(`
    const EACH = 2000
    const workers = Array.from({ length: 8 }, () => start('worker.ts', cache.path))
    const sums = await Promise.all(workers.map((worker) => call(worker, 'count', 'k', EACH)))
    assert.equal(new Set(sums.flat()).size, 8 * EACH)
    assert.equal(cache.getSync('k'), 8 * EACH)
    await Promise.all(workers.map((worker) => worker.terminate()))
  `)
})

test("one writes, and the main thread's objects in memory are as new", () => {
  run(`
    const objects = new Cache({ path: cache.path, memory: { isolation: 'none' } })
    const worker = start('worker.ts', cache.path)
    for (let turn = 0; turn < 30; turn++) {
      objects.setSync('k', ['own', turn])
      assert.equal(objects.getSync('k'), objects.getSync('k'))
      const theirs = ['of the worker', turn]
      assert.deepEqual(await call(worker, 'set', 'k', theirs), theirs)
      assert.deepEqual(objects.getSync('k'), theirs)
    }
    await worker.terminate()
  `)
})

test('only what ends as V8 ends itself is started anew, and not for ever', () => {
  for (const [signal, expected] of [
    ['SIGTRAP', 3],
    ['SIGSEGV', 1],
  ]) {
    let starts = 0
    const given = () => [String(++starts)]
    expect(() => runThreads(`process.kill(process.pid, '${signal}')`, given)).toThrow()
    expect(starts).toBe(expected)
  }
  const given = [['SIGTRAP'], []]
  const text =
    "if (process.argv.at(-1) === 'SIGTRAP') process.kill(process.pid, 'SIGTRAP')\nconsole.log('done')"
  expect(runThreads(text, () => given.shift() as string[]).trim()).toBe('done')
})
