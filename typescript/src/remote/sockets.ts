import { connect, type OnReadOpts, type Socket } from 'node:net'
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import { native } from '../host/native.ts'
import { type AnswerOperations, Answers } from './answers.ts'

/** The callbacks of `native/src/sockets.rs`, which say what they do. */
export interface SocketOperations extends AnswerOperations {
  socketsBegin(wake: () => void): void
  socketsNext(told: Float64Array, out: Uint8Array): ArrayBuffer | string | undefined
  socketsReceived(
    socket: number,
    bytes: Uint8Array,
    length: number,
    numbers: Float64Array,
    room: Uint8Array,
  ): number
  socketsClosed(socket: number, why: Uint8Array): void
  socketsTick(ago: number): void
}

/** What `socketsNext` wants done. */
const NOTHING = 0
const OPEN = 1
const WRITE = 2
const WRITE_ONLY = 4

/** Bytes that are read or written at once; a longer write has a buffer of its own. */
const ROOM = 65_536

/**
 * The connections of this isolate to servers, on its event loop: one for each server of a cache, on which all calls go out
 * in the order in which they were made. They keep no program alive: the promises of calls do.
 */
class Sockets {
  readonly #native: SocketOperations
  readonly #answers: Answers
  readonly #open = new Map<number, Socket>()
  readonly #told = new Float64Array(5)
  /** What is written next. */
  #out: Buffer = Buffer.allocUnsafeSlow(ROOM)
  /** Whether `work` is about to be called. */
  #isAwake = false
  #timer: NodeJS.Timeout | undefined
  /** When it fires. */
  #due = 0

  constructor(native: SocketOperations) {
    this.#native = native
    this.#answers = new Answers(native, this.#soon)
  }

  begin(): void {
    this.#native.socketsBegin(this.#soon)
  }

  readonly #soon = (): void => {
    if (this.#isAwake) return
    this.#isAwake = true
    queueMicrotask(this.#work)
  }

  /** Does what is to be done, until there is nothing. */
  readonly #work = (): void => {
    this.#isAwake = false
    const told = this.#told
    for (;;) {
      const given = this.#native.socketsNext(told, this.#out)
      const kind = told[0]
      const number = told[1]
      const about = told[2]
      const due = told[3]
      const answers = told[4]
      if (kind === WRITE_ONLY || kind === WRITE) this.#write(number, about, given as ArrayBuffer)
      else if (kind === OPEN) this.#connect(number, given as string, about)
      else if (kind !== NOTHING) this.#close(number)
      if (kind !== NOTHING && kind !== WRITE_ONLY) continue
      if (due >= 0) this.#wakeIn(due)
      if (answers === 0 || !this.#hand(this.#nextAnswers())) return
    }
  }

  #nextAnswers(): number {
    const { numbers, room } = this.#answers
    return this.#native.answersNext(numbers, room.bytes)
  }

  /** Hands out answers; whether there is more to do. */
  #hand(told: number): boolean {
    const hasMore = told < 0
    const count = (hasMore ? -told : told) - 1
    if (count > 0) this.#answers.hand(count)
    return hasMore
  }

  /** @param given what is written, if the room of what is written next is too small */
  #write(number: number, length: number, given: ArrayBuffer | undefined): void {
    const socket = this.#open.get(number)
    if (socket === undefined) return
    if (given !== undefined) {
      socket.write(new Uint8Array(given))
      return
    }
    socket.write(this.#out.subarray(0, length))
    // What the system did not take at once is still to be read there.
    if (socket.writableLength > 0) this.#out = Buffer.allocUnsafeSlow(ROOM)
  }

  #connect(number: number, host: string, port: number): void {
    const buffer = new Uint8Array(ROOM)
    // Without a buffer and an event for each read.
    const onread: OnReadOpts = {
      buffer,
      callback: (length) => {
        const { numbers, room } = this.#answers
        const told = this.#native.socketsReceived(number, buffer, length, numbers, room.bytes)
        if (this.#hand(told)) this.#work()
        return true
      },
    }
    const socket =
      port < 0 ? connect({ path: host, onread }) : connect({ host, port, noDelay: true, onread })
    this.#open.set(number, socket)
    let why = 'the server closed the connection'
    socket.unref()
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

  /** @param time milliseconds */
  #wakeIn(time: number): void {
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
