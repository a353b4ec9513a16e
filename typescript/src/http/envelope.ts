/** What documents around one value under one name have in common, plain and in gzip. */
import { Frame } from './frame.ts'
import { GzipFrame } from './gzip-frame.ts'

/** The beginning of documents: `{"value":` and the value. */
export class Envelope {
  /** The name of the value's member. */
  readonly name: string
  /** The beginning as it is. */
  readonly plain: Frame
  readonly #head: Uint8Array
  readonly #value: Uint8Array
  #gzip: GzipFrame | Promise<GzipFrame> | undefined

  constructor(name: string, value: Uint8Array) {
    this.name = name
    this.#head = Buffer.from(`{${JSON.stringify(name)}:`)
    this.#value = value
    this.plain = new Frame([this.#head, value])
  }

  /** The beginning in gzip: at once if it was made before. Callers that ask meanwhile share the work. */
  get gzip(): GzipFrame | Promise<GzipFrame> {
    if (this.#gzip === undefined) {
      const making = GzipFrame.make(this.#head, this.#value)
      this.#gzip = making
      making.then(
        (made) => {
          this.#gzip = made
        },
        // The next caller tries again.
        () => {
          this.#gzip = undefined
        },
      )
    }
    return this.#gzip
  }
}
