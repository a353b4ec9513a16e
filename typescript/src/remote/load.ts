import { type Brought, HIT, LOAD, type Load, TIMED_OUT } from '../flight.ts'
import { LOAD_NOW, typed, WAITED_IN_VAIN, WAITS } from '../host/native.ts'
import type { Key } from '../key.ts'
import { asked } from './answers.ts'
import type { RemoteNamespace } from './namespace.ts'
import type { NativeLoad } from './native.ts'

/** The machine of a load whose key is on a server: see `native/src/remote/loads.rs`. */
export class RemoteLoad implements Load {
  value: unknown
  readonly #namespace: RemoteNamespace
  readonly #key: Key
  /** Undefined when it is over. */
  #load: NativeLoad | undefined
  /** While a thread takes a step. */
  #step: Promise<unknown> | undefined

  constructor(namespace: RemoteNamespace, key: Key) {
    this.#namespace = namespace
    this.#key = key
    this.#load = namespace.calls.loadBegin(namespace.number)
  }

  isOpen(own: boolean): boolean {
    if (this.#load === undefined) return false
    // It waits for others, or for the server to say whether it does.
    if (this.#step !== undefined) return true
    const { calls, number } = this.#namespace
    return calls.loadOpen(number, this.#load, own ? 1 : 0)
  }

  async step(waited: number): Promise<number> {
    const namespace = this.#namespace
    const at = namespace.at(this.#key)
    const load = this.#load as NativeLoad
    const step = asked(namespace.calls.loadStep(...at, load, waited))
    this.#step = step
    let answer: ArrayBuffer | number
    try {
      answer = await step
    } finally {
      this.#step = undefined
    }
    if (answer === LOAD_NOW) return LOAD
    if (typeof answer === 'number' && answer <= WAITS)
      return Math.max((WAITS - answer) / 1000, 0.001)
    this.#load = undefined
    if (answer === WAITED_IN_VAIN) return TIMED_OUT
    this.value = namespace.finish(namespace.decode(new Uint8Array(answer as ArrayBuffer)))
    return HIT
  }

  fill(value: unknown, ttl: number, shared: boolean): Brought | Promise<Brought> {
    const namespace = this.#namespace
    let payload: Uint8Array | undefined
    let converted = false
    let filled: Promise<boolean>
    try {
      filled = namespace.written(value, (writer, length) => {
        converted = writer.converted
        if (shared || converted) payload = writer.bytes.slice(0, length)
        const load = this.#end()
        return namespace.send(this.#key, writer, length, (at, ...rest) =>
          namespace.calls.loadFill(...at, ...rest, ttl, load),
        )
      })
    } catch (failure) {
      // A value without an entry has no copies.
      const own = () => value
      return { own, copy: shared ? own : undefined, stored: false, failure: typed(failure) }
    }
    const copy = () => namespace.read(payload as Uint8Array)
    const own = () => namespace.finish(converted ? copy() : value)
    const brought = { own, copy: shared ? copy : undefined }
    return filled.then(
      (stored) => ({ ...brought, stored, failure: undefined }),
      (failure: unknown) => ({ ...brought, stored: false, failure }),
    )
  }

  abandon(): void {
    const load = this.#load
    if (load === undefined) return
    this.#load = undefined
    const { calls } = this.#namespace
    const key = this.#key
    const end = async () => asked(this.#namespace.within(key, (at) => calls.loadEnd(...at, load)))
    // Nobody waits for it: without an answer the load ends with this process, or by its time.
    if (this.#step === undefined) end().catch(() => {})
    else this.#step.then(end, end).catch(() => {})
  }

  #end(): NativeLoad {
    const load = this.#load as NativeLoad
    this.#load = undefined
    return load
  }
}
