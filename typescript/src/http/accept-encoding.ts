/** Chooses a content coding by the field Accept-Encoding (RFC 9110 12.5.3). */
import type { Coding } from './codings.ts'

/** What a client accepts: weights from 0 to 1 by coding, in lower case; `*` stands for those that are not named. */
type Weights = ReadonlyMap<string, number>

const ELEMENT =
  /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?$/

/** Clients of one program send the same field again and again. */
let lastField = ''
let lastWeights: Weights = new Map()

/**
 * The coding for a request: one of `codings`, which are in the server's order of preference; `'identity'` for the bytes
 * as they are; undefined where the client accepts nothing that there is.
 *
 * A client without the field gets the bytes as they are, though it would have to accept any coding.
 *
 * @param isSmall the bytes gain little by compression, so they are compressed only for a client that accepts nothing else
 */
export function chooseCoding(
  field: string | null | undefined,
  codings: readonly Coding[],
  isSmall: boolean,
): Coding | 'identity' | undefined {
  if (field === null || field === undefined || field === '') return 'identity'
  const weights = weightsOf(field)
  const others = weights.get('*')
  const identity = weights.get('identity')
  const acceptsIdentity = identity === undefined ? others !== 0 : identity > 0
  if (isSmall && acceptsIdentity) return 'identity'
  let best: Coding | undefined
  // An identity that is not named is acceptable, and less so than a coding that is.
  let weight = acceptsIdentity ? (identity ?? 0) : 0
  for (const coding of codings) {
    const its = weights.get(coding) ?? others ?? 0
    const isBetter = best === undefined ? its > 0 && its >= weight : its > weight
    if (!isBetter) continue
    best = coding
    weight = its
  }
  return best ?? (acceptsIdentity ? 'identity' : undefined)
}

/** What is no coding with a weight is skipped. */
function weightsOf(field: string): Weights {
  if (field === lastField) return lastWeights
  const weights = new Map<string, number>()
  for (const element of field.toLowerCase().split(',')) {
    const [, coding, weight] = ELEMENT.exec(element.trim()) ?? []
    if (coding === undefined) continue
    weights.set(coding === 'x-gzip' ? 'gzip' : coding, weight === undefined ? 1 : Number(weight))
  }
  lastField = field
  lastWeights = weights
  return weights
}
