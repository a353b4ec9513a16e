/** Next's cached values as plain data and back: buffers come back as bytes, and Next needs them as buffers and a Map. */

/** One of Next's values (`IncrementalCacheValue`): a page, a route's answer, a fetch, a redirect or an image. */
export interface NextValue {
  readonly kind: string
  readonly [member: string]: unknown
}

/** Members that hold bytes. */
const BYTES = ['body', 'rscData', 'buffer'] as const

/** The value without what has no form as data. */
export function plain(value: NextValue): NextValue {
  const made: Record<string, unknown> = { kind: value.kind }
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    if (name === 'segmentData' && member instanceof Map) made[name] = [...member]
    else if (name === 'headers') made[name] = defined(member as object)
    // Data for the browser: Next itself writes it as JSON.
    else if (name === 'pageData' || name === 'props') made[name] = JSON.stringify(member)
    else if (name === 'data') made[name] = defined(member as object)
    else made[name] = member
  }
  return made as NextValue
}

/** The value as Next has made it. */
export function revived(value: NextValue): NextValue {
  const made: Record<string, unknown> = { ...value, kind: value.kind }
  for (const name of BYTES) {
    const bytes = made[name]
    if (bytes instanceof Uint8Array) made[name] = asBuffer(bytes)
  }
  const { segmentData } = made
  if (Array.isArray(segmentData)) {
    made.segmentData = new Map(
      (segmentData as [string, Uint8Array][]).map(([path, bytes]) => [path, asBuffer(bytes)]),
    )
  }
  for (const name of ['pageData', 'props']) {
    const text = made[name]
    if (typeof text === 'string') made[name] = JSON.parse(text)
  }
  return made as NextValue
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
