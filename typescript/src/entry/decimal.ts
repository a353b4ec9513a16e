import { InvalidArgument } from '../errors.ts'
import { immutable } from '../memory/immutable.ts'

const FORM = /^(-?[0-9]+(\.[0-9]+)?(E[+-]?[0-9]{1,9})?|NaN|Infinity|-Infinity)$/

/** Characters that every language converts by default. */
export const MAX_DIGITS = 4300

/** Whether text is a decimal as an entry holds it. */
export function isDecimal(text: string): boolean {
  return text.length <= MAX_DIGITS && FORM.test(text)
}

/**
 * A decimal number as its text: Python's `Decimal`, Ruby's `BigDecimal`. It does no arithmetic; hand `text` to the
 * decimal library of your choice.
 */
export class Decimal {
  /** Like `-12.50`, `1E+9`, `NaN` or `-Infinity`. */
  readonly text: string

  static {
    // The memory tier keeps it as it is.
    Object.defineProperty(Decimal.prototype, immutable, { value: true })
  }

  /** @throws InvalidArgument for text of another form, or of more than 4300 characters. */
  constructor(text: string) {
    if (typeof text !== 'string' || !isDecimal(text)) {
      throw new InvalidArgument(
        'a decimal is text like -12.50, 1E+9, NaN, Infinity or -Infinity, of at most 4300 characters',
      )
    }
    this.text = text
  }

  toString(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }
}
