/** Reads the entry on its standard input, in hex; says the error's code, and the most bytes that it had at once. */
import { readFileSync } from 'node:fs'
import { PolycacheError } from '../../src/index.ts'
import { decodeEntry } from './entries.ts'

let code: string | undefined
try {
  decodeEntry(Buffer.from(readFileSync(0, 'latin1'), 'hex'))
} catch (error) {
  if (!(error instanceof PolycacheError)) throw error
  code = error.code
}
const peak = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))
console.log(JSON.stringify({ code, peak: Number(peak?.[1]) * 1024 }))
