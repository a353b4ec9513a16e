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
  readonly #grown: () => void
  #gzip: GzipFrame | Promise<GzipFrame> | undefined

  /** @param grown told when it holds more than at first */
  constructor(name: string, value: Uint8Array, grown: () => void) {
    this.name = name
    this.#head = Buffer.from(`{${JSON.stringify(name)}:`)
    this.#value = value
    this.#grown = grown
    this.plain = new Frame([this.#head, value])
  }

  /** Number of bytes that it holds beside the value's own. */
  get held(): number {
    return this.plain.held + (this.#gzip instanceof GzipFrame ? this.#gzip.held : 0)
  }

  /** The beginning in gzip: at once if it was made before. Callers that ask meanwhile share the work. */
  get gzip(): GzipFrame | Promise<GzipFrame> {
    if (this.#gzip === undefined) {
      const making = GzipFrame.make(this.#head, this.#value)
      this.#gzip = making
      making.then(
        (made) => {
          this.#gzip = made
          this.#grown()
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
