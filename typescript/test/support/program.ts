/** Programs that a test runs in a process of its own, by Node or by Bun. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const isBun: boolean = process.versions.bun !== undefined

/** What collects garbage in such a program. */
export const COLLECT: string = isBun ? 'Bun.gc(true)' : 'globalThis.gc()'

/** Runs a module's text, in which `source('index.ts')` is a file of src/, and gives what it printed. */
export function runProgram(text: string, ...given: string[]): string {
  return run([], text, given)
}

function run(more: string[], text: string, given: string[]): string {
  const src = JSON.stringify(new URL('../../src/', import.meta.url).href)
  const program = `const source = (file) => import(${src} + file)\n${text}`
  const flags = isBun ? [] : ['--expose-gc', '--input-type=module']
  return execFileSync(process.execPath, [...flags, ...more, '-e', program, ...given], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
    timeout: 60_000,
  })
}

/**
 * V8 may abort while a worker thread begins or ends (`Check failed: jit_page.has_value()` and its like, nodejs/node#64500),
 * with or without an addon; more often on processors with protection keys, which not every Node can leave alone. It does so
 * by a breakpoint instruction; what is our fault ends by another signal. So a program with worker threads is started this
 * often.
 */
const STARTS = 3
const UNPROTECTED = '--no-memory-protection-keys'

function flagsOfThreads(): string[] {
  if (isBun) return []
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  return known.includes('--memory-protection-keys') ? [UNPROTECTED] : []
}

/**
 * Runs a module's text as `runProgram` does, in which `start(file, workerData)` starts a file of test/support as a worker
 * thread, and `call(worker, ...command)` sends it a message and waits for its answer. `given` is made anew for each start.
 */
export function runThreads(text: string, given: () => string[]): string {
  const support = JSON.stringify(new URL('.', import.meta.url).href)
  const program = `
    import assert from 'node:assert/strict'
    import { once } from 'node:events'
    import { Worker } from 'node:worker_threads'
    const start = (file, workerData) => new Worker(new URL(file, ${support}), { workerData, execArgv: [] })
    const call = async (worker, ...command) => {
      const answer = once(worker, 'message')
      worker.postMessage(command)
      return (await answer)[0]
    }
    const { Cache } = await source('index.ts')
    ${text}`
  const flags = flagsOfThreads()
  for (let starts = 1; ; starts++) {
    try {
      return run(flags, program, given())
    } catch (error) {
      if ((error as { signal?: unknown }).signal !== 'SIGTRAP' || starts === STARTS) throw error
      console.warn(`V8 ended a program with worker threads: start ${starts} of ${STARTS}`)
    }
  }
}
