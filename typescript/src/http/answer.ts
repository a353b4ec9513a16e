/** What HTTP says to a request for a representation (RFC 9110): one decision for every server. */
import { chooseCoding } from './accept-encoding.ts'
import type { Coding } from './codings.ts'
import { matchNames, noneMatchNames } from './entity-tag.ts'
import type { Fields } from './fields.ts'
import type { Pieces } from './frame.ts'
import type { Policy } from './policy.ts'
import { problemAnswer } from './problem.ts'

/** An answer, before it is written in the way of a server. */
export interface Answer {
  readonly status: number
  readonly fields: Fields
  /** The content's length in bytes where `fields` do not tell it. */
  readonly length?: number
  /** Undefined where there is none, as for HEAD. */
  readonly body: Uint8Array | Pieces | undefined
}

/** A field of a request: absent, or its text. */
export type Field = string | null | undefined

/** What is asked for, in any coding. */
export interface Selectable {
  /** Bytes of it without a coding. */
  readonly size: number
  /** Whether its bytes are compressed already, so that a coding would only cost time. */
  readonly isCompressed: boolean
  /** What a client gets that accepts this coding; at once if it is there. */
  select(coding: Coding | 'identity', policy: Policy): Selected | Promise<Selected>
  /** The codings in which it can be had, of those of the policy. */
  codings(policy: Policy): readonly Coding[]
}

/** What was selected, and its answers. What is compressed for an answer, is so when that is read. */
export interface Selected {
  /** Undefined for what has no validator. */
  readonly etag: string | undefined
  readonly full: Answer | Promise<Answer>
  readonly head: Answer | Promise<Answer>
  readonly notModified: Answer
}

/**
 * The answer to a request. It is there at once, unless a variant has to be compressed first.
 *
 * - 405 for another method than GET and HEAD,
 * - 406 where nothing that there is is acceptable (RFC 9110 12.5.3),
 * - 412 where If-Match names another tag, 304 where If-None-Match names this one (RFC 9110 13.2.2),
 * - else 200. A Range is not served, as a server may do (RFC 9110 14.2); nothing has a Last-Modified.
 */
export function answer(
  subject: Selectable,
  policy: Policy,
  method: string | undefined,
  ifMatch: Field,
  ifNoneMatch: Field,
  acceptEncoding: Field,
): Answer | Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return problemAnswer(405, method)
  const coding = chooseCoding(
    acceptEncoding,
    subject.codings(policy),
    subject.size < policy.compressFrom || subject.isCompressed,
  )
  if (coding === undefined) return problemAnswer(406, method)
  const selected = subject.select(coding, policy)
  return selected instanceof Promise
    ? selected.then((made) => conditional(made, method, ifMatch, ifNoneMatch))
    : conditional(selected, method, ifMatch, ifNoneMatch)
}

function conditional(
  selected: Selected,
  method: string,
  ifMatch: Field,
  ifNoneMatch: Field,
): Answer | Promise<Answer> {
  const { etag } = selected
  if (ifMatch !== null && ifMatch !== undefined && !matchNames(ifMatch, etag))
    return problemAnswer(412, method)
  if (ifNoneMatch !== null && ifNoneMatch !== undefined) {
    if (ifNoneMatch.trim() === '*' || (etag !== undefined && noneMatchNames(ifNoneMatch, etag)))
      return selected.notModified
  }
  return method === 'HEAD' ? selected.head : selected.full
}
