import type { Found } from '../any-namespace.ts'
import type { Key } from '../key.ts'
import { asked } from './answers.ts'
import type { RemoteNamespace } from './namespace.ts'
import type { NativeFound } from './native.ts'

/** What an update found on a server. */
export class RemoteFound implements Found {
  readonly value: unknown
  readonly #namespace: RemoteNamespace
  readonly #key: Key
  readonly #place: NativeFound

  constructor(namespace: RemoteNamespace, key: Key, place: NativeFound, value: unknown) {
    this.#namespace = namespace
    this.#key = key
    this.#place = place
    this.value = value
  }

  async set(value: unknown, given: number | undefined): Promise<unknown> {
    const namespace = this.#namespace
    const { calls, settings } = namespace
    // Not a number: an entry keeps its own.
    const absent = this.value === undefined ? settings.lifetime.next() : Number.NaN
    const ttl = given ?? absent
    let payload: Uint8Array | undefined
    const stored = await namespace.written(value, (writer, length) => {
      if (writer.converted) payload = writer.bytes.slice(0, length)
      return namespace.send(this.#key, writer, length, (at, ...rest) =>
        calls.setUpdated(...at, ...rest, ttl, this.#place),
      )
    })
    if (!stored) return undefined
    return namespace.finish(payload === undefined ? value : namespace.read(payload))
  }

  delete(): Promise<boolean> {
    const { calls } = this.#namespace
    return asked(calls.deleteUpdated(...this.#namespace.at(this.#key), this.#place))
  }
}
