import { InvalidArgument } from '../errors.ts'
import { immutable } from '../memory/immutable.ts'

const FORM = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

/** A UUID (RFC 9562): Python's `uuid.UUID`, Ruby's `Polycache::UUID`. */
export class Uuid {
  /** Its 16 bytes, in RFC 9562 order. */
  readonly bytes: Uint8Array

  static {
    // The memory tier keeps it as it is.
    Object.defineProperty(Uuid.prototype, immutable, { value: true })
  }

  /**
   * From text with or without hyphens, or from 16 bytes, which are copied.
   * @throws InvalidArgument for anything else.
   */
  constructor(uuid: string | Uint8Array) {
    const bytes = typeof uuid === 'string' ? parse(uuid) : uuid
    if (!(bytes instanceof Uint8Array) || bytes.length !== 16) {
      throw new InvalidArgument(
        'a UUID is text of 32 hex digits, with or without hyphens, or 16 bytes',
      )
    }
    this.bytes = Uint8Array.from(bytes)
  }

  /** Lower-case, with hyphens. */
  toString(): string {
    const hex = Buffer.from(this.bytes).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }

  toJSON(): string {
    return this.toString()
  }
}

function parse(text: string): Uint8Array | undefined {
  return FORM.test(text) ? Buffer.from(text.replaceAll('-', ''), 'hex') : undefined
}
