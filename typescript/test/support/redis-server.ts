/** Redis and Valkey servers on free loopback ports, started from programs on PATH or in $POLYCACHE_TOOLS/bin. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const FOLDERS = [
  ...(process.env.PATH ?? '').split(delimiter),
  ...(process.env.POLYCACHE_TOOLS ? [join(process.env.POLYCACHE_TOOLS, 'bin')] : []),
]

/** Those of the programs that are here: Redis 7.0, Redis 8.0 and Valkey 8 (tools/setup.sh servers). */
export const PROGRAMS: string[] = ['redis-server', 'redis-server-8', 'valkey-server'].filter(
  (program) => pathOf(program) !== undefined,
)

export class RedisServer {
  readonly port: number
  readonly #process: ChildProcess
  readonly #folder: string

  private constructor(port: number, process: ChildProcess, folder: string) {
    this.port = port
    this.#process = process
    this.#folder = folder
  }

  static async start(program: string, ...options: string[]): Promise<RedisServer> {
    return RedisServer.#run(program, () => ['--save', '', ...options])
  }

  /** A Sentinel that watches the server on that port, and calls it "main". */
  static sentinel(watched: number): Promise<RedisServer> {
    return RedisServer.#run('redis-server', (folder) => {
      const state = join(folder, 'sentinel.conf')
      writeFileSync(state, `sentinel monitor main 127.0.0.1 ${watched} 1\n`)
      return [state, '--sentinel']
    })
  }

  static async #run(
    program: string,
    options: (folder: string) => readonly string[],
  ): Promise<RedisServer> {
    const port = await freePort()
    const folder = mkdtempSync(join(tmpdir(), 'polycache-redis-'))
    const own = ['--port', String(port), '--dir', folder, '--bind', '127.0.0.1']
    const started = spawn(pathOf(program) ?? program, [...options(folder), ...own], {
      stdio: 'ignore',
    })
    const server = new RedisServer(port, started, folder)
    for (let tried = 0; !(await answers(port)); tried++) {
      if (tried > 500 || started.exitCode !== null) throw new Error(`${program} does not start`)
      await sleep(20)
    }
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** It hangs: connections stay open, and nothing is answered. */
  pause(): void {
    this.#process.kill('SIGSTOP')
  }

  resume(): void {
    this.#process.kill('SIGCONT')
  }

  /** A command of a client that knows nothing of caches; the first line of its reply. */
  async plain(...words: string[]): Promise<string> {
    const socket = createConnection(this.port, '127.0.0.1')
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
    socket.write(`*${words.length}\r\n${parts.join('')}`)
    const [reply] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return reply.toString().split('\r\n')[0]
  }

  /** The lines of a reply of one text. */
  async lines(...words: string[]): Promise<string[]> {
    const socket = createConnection(this.port, '127.0.0.1')
    socket.write(`${words.join(' ')}\r\n`)
    let said = Buffer.alloc(0)
    for (;;) {
      const [more] = (await once(socket, 'data')) as [Buffer]
      said = Buffer.concat([said, more])
      const head = said.indexOf('\r\n')
      const length = Number(said.subarray(1, head).toString())
      if (head < 0 || said.length < head + 4 + length) continue
      socket.destroy()
      return said
        .subarray(head + 2, head + 2 + length)
        .toString()
        .trimEnd()
        .split('\n')
    }
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const gone = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await gone
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function pathOf(program: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, program)).find((path) => existsSync(path))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  // A cluster's bus has the port 10000 above.
  return port < 50_000 ? port : freePort()
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.write('PING\r\n'))
    socket.once('data', (data) => {
      socket.destroy()
      // One with a password is there, too.
      resolve(/^(\+PONG|-NOAUTH)/.test(data.toString()))
    })
  })
}

/** Waits until something is so. */
export async function until(so: () => unknown, tries = 500): Promise<void> {
  for (let tried = 0; !(await so()); tried++) {
    if (tried > tries) throw new Error('it does not happen')
    await sleep(10)
  }
}
