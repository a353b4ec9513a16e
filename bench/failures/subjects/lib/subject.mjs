/** A client or a cache whose behaviour is looked at; `failures/subject.py` says what it is asked. */
import { createInterface } from 'node:readline'

const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`)

// A client that reports a lost connection this way must not end the process.
process.on('unhandledRejection', () => {})

const brief = (error) => {
  const name = error?.code ?? error?.name ?? 'error'
  return `error: ${name}: ${String(error?.message ?? error).slice(0, 120)}`
}

/** What an operation came to. */
async function outcome(subject, operation, key) {
  try {
    if (operation === 'set') {
      await subject.set(key, 'stored')
      return 'stored'
    }
    if (operation === 'load') return (await subject.load(key)) === 'loaded' ? 'loaded' : 'found'
    const value = await subject.get(key)
    return value === undefined || value === null ? 'miss' : 'value'
  } catch (error) {
    return brief(error)
  }
}

/** `subject` has `open({ url, directory })`, `get(key)`, `set(key, value)`, perhaps `load(key)`, and `versions`. */
export async function serve(subject) {
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    if (request.command === 'open') {
      await subject.open(request)
      say({ versions: subject.versions ?? {}, loads: subject.load !== undefined })
    } else {
      const before = performance.now()
      let came = ''
      for (let turn = 0; turn < request.times; turn++) {
        const began = performance.now()
        came = await outcome(subject, request.operation, request.key)
        if (turn === request.times - 1) {
          const now = performance.now()
          say({ ms: now - began, total_ms: now - before, outcome: came })
        }
      }
    }
  }
  process.exit(0)
}

/** The version of an installed package. */
export async function version(name) {
  const { readFileSync } = await import('node:fs')
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url)
  return { [name]: JSON.parse(readFileSync(file, 'utf8')).version }
}
