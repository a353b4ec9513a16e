/** How representations are answered, checked and put into text once. */
import { InvalidArgument } from '../errors.ts'
import { checkNames } from '../option-names.ts'
import { type CacheControl, cacheControlText } from './cache-control.ts'
import { CODINGS, type Coding } from './codings.ts'

/** Options of `respond`. One object that is used again costs least: what is made of it is kept. */
export interface RespondOptions {
  /** What caches may do, as text or in parts. Default: `'no-cache'`: they keep it, and ask each time whether it is current. */
  readonly cacheControl?: string | CacheControl
  /**
   * Request fields that the answer was chosen by, which caches need to know (RFC 9110 12.5.5). Accept-Encoding is named
   * where there are codings. Default: none.
   */
  readonly vary?: readonly string[]
  /** Content codings that may be used, best first. Default: `CODINGS`, those of the run time. */
  readonly codings?: readonly Coding[]
  /** Bytes below which compression is not worth it. Default: 1024. */
  readonly compressFrom?: number
  /** More header fields, as for CORS or security. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The options as they are used. */
export interface Policy {
  /** Fields of every answer, name after value, 304 included (RFC 9110 15.4.5). */
  readonly always: readonly string[]
  readonly codings: readonly Coding[]
  readonly compressFrom: number
}

const OPTIONS: ReadonlySet<string> = new Set<keyof RespondOptions>([
  'cacheControl',
  'vary',
  'codings',
  'compressFrom',
  'headers',
])
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** What the answer itself says, or the server. */
const OWN: ReadonlySet<string> = new Set([
  'age',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'etag',
  'transfer-encoding',
  'vary',
])

const made = new WeakMap<RespondOptions, Policy>()
const DEFAULT: RespondOptions = {}

/**
 * The policy of options; the same one for the same object.
 * @throws InvalidArgument
 */
export function policyOf(options: RespondOptions = DEFAULT): Policy {
  let policy = made.get(options)
  if (policy === undefined) {
    policy = makePolicy(options)
    made.set(options, policy)
  }
  return policy
}

function makePolicy(options: RespondOptions): Policy {
  checkNames(options, OPTIONS)
  const { cacheControl = 'no-cache', codings = CODINGS, compressFrom = 1024 } = options
  const unknown = codings.find((coding) => !['gzip', 'br', 'zstd'].includes(coding))
  if (unknown !== undefined) throw new InvalidArgument(`there is no coding ${unknown}`)
  if (!(compressFrom >= 0)) throw new InvalidArgument('compressFrom is a number of bytes')
  const text = typeof cacheControl === 'string' ? cacheControl : cacheControlText(cacheControl)
  const always = ['cache-control', checkedValue('cache-control', text)]
  const vary = new Set((options.vary ?? []).map(checkedName))
  // Only those that can be made here.
  const usable = codings.filter((coding) => CODINGS.includes(coding))
  if (usable.length > 0) vary.add('accept-encoding')
  if (vary.size > 0) always.push('vary', [...vary].join(', '))
  for (const [given, value] of Object.entries(options.headers ?? {})) {
    const name = checkedName(given)
    if (OWN.has(name)) throw new InvalidArgument(`the field ${name} is not set by headers`)
    always.push(name, checkedValue(name, value))
  }
  return { always, codings: usable, compressFrom }
}

/** @throws InvalidArgument */
export function checkedName(name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return name.toLowerCase()
  throw new InvalidArgument(`${JSON.stringify(name)} is no name of a header field`)
}

/** @throws InvalidArgument for what would end the field, above all */
export function checkedValue(name: string, value: unknown): string {
  if (typeof value === 'string' && VALUE.test(value)) return value
  throw new InvalidArgument(`the field ${name} cannot be ${JSON.stringify(value)}`)
}
