/** Calls that are under way when their thread or their process ends, and many handles. */
import { expect, test } from 'vitest'
import { folder } from '../support/caches.ts'
import { runProgram, runThreads } from '../support/program.ts'
import { everywhere, Site } from '../support/remote-caches.ts'

everywhere((server) => {
  test('worker threads that are ended in mid-call', () => {
    const said = runThreads(
      `
      const [url, prefix] = process.argv.slice(-2)
      const cache = new Cache({ remote: url, prefix, timeout: '5s' })
      for (let turn = 0; turn < 8; turn++) {
        const worker = start('remote-worker.ts', { url, prefix })
        await once(worker, 'message')
        await worker.terminate()
      }
      await cache.set('k', 'v')
      assert.equal(await cache.get('k'), 'v')
      console.log(await cache.getOrSet('held', () => 'own'))
      await cache.close()
      `,
      () => [server().url, new Site(server()).prefix],
    )
    expect(said.trim()).toBe('own')
  })

  test('a process that exits in mid-call', () => {
    const site = new Site(server())
    const said = runProgram(
      `
      const { Cache } = await source('index.ts')
      const [url, prefix] = process.argv.slice(-2)
      const cache = new Cache({ remote: url, prefix })
      await cache.set('k', 1)
      for (let at = 0; at < 200; at++) cache.set('k' + at, at)
      console.log(await cache.get('k'))
      process.exit(0)
      `,
      server().url,
      site.prefix,
    )
    expect(said.trim()).toBe('1')
  })

  test('a process with nothing to do ends, though its cache is open, but not before an answer', () => {
    const site = new Site(server())
    const said = runProgram(
      `
      const { Cache } = await source('index.ts')
      const [url, prefix] = process.argv.slice(-2)
      const cache = new Cache({ remote: url, prefix })
      // Nothing else keeps the process alive between two answers.
      const all = async () => {
        for (let at = 0; at < 300; at++) await cache.set('k', at)
        console.log('stored')
      }
      all()
      `,
      server().url,
      site.prefix,
    )
    expect(said.trim()).toBe('stored')
  })

  test('one loader for two processes, and a process that is killed while it loads', async () => {
    const site = new Site(server())
    // Of one host, where a process is seen to be dead at once.
    const path = folder()
    const cache = site.open({ path, limit: '4MiB' })
    const program = `
      const { Cache } = await source('index.ts')
      const [remote, prefix, path] = process.argv.slice(-3)
      const cache = new Cache({ remote, prefix, path, timeout: '5s' })
      console.log(await cache.getOrSet('k', () => 'theirs'))
      cache.getOrSet('held', () => { process.kill(process.pid, 'SIGKILL') })
    `
    expect(await cache.getOrSet('k', () => 'ours')).toBe('ours')
    let said = ''
    try {
      runProgram(program, server().url, site.prefix, path)
    } catch (killed) {
      said = String((killed as { stdout: unknown }).stdout)
    }
    expect(said.trim()).toBe('ours')
    expect(await cache.getOrSet('held', () => 'own')).toBe('own')
  })

  test('two hundred handles that nobody uses', async () => {
    const site = new Site(server())
    const caches = Array.from({ length: 200 }, () => site.open())
    await caches[0].set('k', 'v')
    expect(await caches[199].get('k')).toBe('v')
    await Promise.all(caches.map((cache) => cache.close()))
  })
})
