import { connect, type Socket } from 'node:net'
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import { native } from '../host/native.ts'

/** The callbacks of `native/src/sockets.rs`, which say what they do. */
export interface SocketOperations {
  socketsBegin(wake: () => void): void
  socketsNext(told: Float64Array): ArrayBuffer | string | undefined
  socketsReceived(socket: number, bytes: Uint8Array): void
  socketsClosed(socket: number, why: Uint8Array): void
  socketsTick(ago: number): void
}

/** What `socketsNext` wants done. */
const NOTHING = 0
const OPEN = 1
const WRITE = 2

/**
 * The connections of this isolate to servers, on its event loop: one for each server of a cache, on which all calls go out
 * in the order in which they were made. They keep no program alive: the promises of calls do.
 */
class Sockets {
  readonly #native: SocketOperations
  readonly #open = new Map<number, Socket>()
  readonly #told = new Float64Array(3)
  #timer: NodeJS.Timeout | undefined
  /** When it fires. */
  #due = 0

  constructor(native: SocketOperations) {
    this.#native = native
  }

  begin(): void {
    this.#native.socketsBegin(() => queueMicrotask(this.#work))
  }

  /** Does what is to be done, until there is nothing. */
  readonly #work = (): void => {
    for (;;) {
      const given = this.#native.socketsNext(this.#told)
      const [kind, number, about] = this.#told as unknown as [number, number, number]
      if (kind === NOTHING) {
        this.#wakeIn(about)
        return
      }
      if (kind === WRITE) this.#open.get(number)?.write(new Uint8Array(given as ArrayBuffer))
      else if (kind === OPEN) this.#connect(number, given as string, about)
      else this.#close(number)
    }
  }

  #connect(number: number, host: string, port: number): void {
    const socket = port < 0 ? connect({ path: host }) : connect({ host, port, noDelay: true })
    this.#open.set(number, socket)
    let why = 'the server closed the connection'
    socket.unref()
    socket.on('data', (bytes) => {
      this.#native.socketsReceived(number, bytes)
      this.#work()
    })
    socket.on('error', (error) => {
      why = error.message
    })
    socket.on('close', () => {
      if (!this.#open.delete(number)) return
      this.#native.socketsClosed(number, new TextEncoder().encode(why))
      this.#work()
    })
  }

  #close(number: number): void {
    const socket = this.#open.get(number)
    this.#open.delete(number)
    socket?.destroy()
  }

  /** @param time milliseconds, below 0 for never */
  #wakeIn(time: number): void {
    if (time < 0) return
    const due = performance.now() + time
    if (this.#timer !== undefined) {
      if (due > this.#due - 1) return
      clearTimeout(this.#timer)
    }
    this.#due = due
    this.#timer = setTimeout(this.#tick, time).unref()
  }

  readonly #tick = (): void => {
    this.#timer = undefined
    const now = performance.now()
    // Not before what has come by now was read: it may have come in time, while the program did something else. Node
    // reads between a timer and the next immediate, Bun between two immediates.
    setImmediate(() =>
      setImmediate(() => {
        this.#native.socketsTick(performance.now() - now)
        this.#work()
      }),
    )
  }
}

let isServed = false

/** Has this isolate serve the connections that the native part asks for. */
export function serveSockets(): void {
  if (isServed) return
  isServed = true
  new Sockets(native().socketOperations()).begin()
}
