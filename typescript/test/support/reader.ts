/** A process of its own with cached reads of the key "k". */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { CachedOptions } from '../../src/reads/index.ts'

const SCRIPT = fileURLToPath(new URL('./reader-program.ts', import.meta.url))

export class Reader {
  readonly #process: ChildProcess
  readonly #lines: AsyncIterator<string>

  private constructor(process: ChildProcess) {
    this.#process = process
    if (process.stdout === null) throw new Error('it has no output')
    this.#lines = createInterface(process.stdout)[Symbol.asyncIterator]()
  }

  /** @param kind of its client; Bun's is in Bun alone */
  static async start(
    port: number,
    options: CachedOptions,
    kind: 'ioredis' | 'bun' = 'ioredis',
  ): Promise<Reader> {
    const told = [SCRIPT, String(port), JSON.stringify(options), kind]
    const started = spawn(process.execPath, told, { stdio: ['ignore', 'pipe', 'inherit'] })
    return new Reader(started)
  }

  /** Waits until it reads this, from its memory. */
  async until(value: string): Promise<void> {
    for (;;) {
      const { value: line, done } = await this.#lines.next()
      if (done) throw new Error('the reader has ended')
      if (line === value) return
    }
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }
}
