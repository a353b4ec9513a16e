/** Processes of their own that use a cache: `child.ts`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const SCRIPT = fileURLToPath(new URL('child.ts', import.meta.url))

/** A process with the cache in `path` open. Its loads write a character each into `countFile`. */
export function child(path: string, countFile = '/dev/null'): Child {
  const started = new Child(path, countFile)
  onTestFinished(() => started.kill())
  return started
}

export class Child {
  readonly #process: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(path: string, countFile: string) {
    this.#process = spawn(process.execPath, [SCRIPT, path, countFile], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const input = this.#process.stdout
    if (input === null) throw new Error('the child has no output')
    this.#lines = createInterface({ input })[Symbol.asyncIterator]()
  }

  /** Has a command done and gives its answer. */
  async call(...command: string[]): Promise<unknown> {
    this.send(...command)
    const { done } = (await this.hear()) as { done: unknown }
    return done
  }

  /** Sends a command without waiting for its answer. */
  send(...command: string[]): void {
    this.#process.stdin?.write(`${JSON.stringify(command)}\n`)
  }

  /** The next thing the process says. */
  async hear(): Promise<unknown> {
    const line = await this.#lines.next()
    if (line.done) throw new Error('the child ended')
    return JSON.parse(line.value)
  }

  /** Kills it at once, whatever it does. */
  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** Kills it and waits until it is gone. */
  async killed(): Promise<void> {
    const gone = once(this.#process, 'exit')
    this.kill()
    await gone
  }
}
