/** Programs that a test runs in a process of its own, by Node or by Bun. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const isBun: boolean = process.versions.bun !== undefined

/** What collects garbage in such a program. */
export const COLLECT: string = isBun ? 'Bun.gc(true)' : 'globalThis.gc()'

/** Runs a module's text, in which `source('index.ts')` is a file of src/, and gives what it printed. */
export function runProgram(text: string, ...given: string[]): string {
  const src = JSON.stringify(new URL('../../src/', import.meta.url).href)
  const program = `const source = (file) => import(${src} + file)\n${text}`
  const flags = isBun ? [] : ['--expose-gc', '--input-type=module']
  return execFileSync(process.execPath, [...flags, '-e', program, ...given], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
    timeout: 60_000,
  })
}
