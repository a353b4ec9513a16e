/** Problem documents (RFC 9457): what was wrong with a request, for programs and people. */
import { nameAll, PolycacheError } from '../errors.ts'
import type { Answer } from './answer.ts'
import { Fields } from './fields.ts'

/** The title of each status that this module answers with (RFC 9110 15). */
const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

const DETAILS: Readonly<Record<number, string>> = {
  405: 'Only GET and HEAD are answered here.',
  406: 'Accept-Encoding refuses every coding that there is, and the bytes without one.',
  412: 'If-Match does not name what is here now.',
}

/** Members of a problem document beside `type`, `title`, `status` and `detail`. */
export type ProblemMembers = Readonly<Record<string, unknown>>

/** A request cannot be answered as it stands. It becomes a problem document with its status. */
export class HttpProblem extends PolycacheError {
  readonly code = 'http_problem'
  /** The status of the answer, 400 to 599. */
  readonly status: number
  /** More members of the document, as the name of the parameter. */
  readonly members: ProblemMembers

  /** @param detail what was wrong and what to do; clients see it */
  constructor(
    status: number,
    detail: string,
    members: ProblemMembers = {},
    options?: ErrorOptions,
  ) {
    super(detail, options)
    this.status = status
    this.members = members
  }

  /** Whether the same request may succeed later: for 429, 502, 503 and 504. */
  override get retryable(): boolean {
    return [429, 502, 503, 504].includes(this.status)
  }
}

nameAll({ HttpProblem })

/**
 * The answer for a status, as a problem document that nobody stores; without a body for HEAD.
 * @param detail what was wrong; a text for the status by default
 */
export function problemAnswer(
  status: number,
  method: string | undefined,
  detail: string | undefined = DETAILS[status],
  members: ProblemMembers = {},
): Answer {
  const title = TITLES[status] ?? 'Error'
  const document = { ...members, type: members.type ?? 'about:blank', title, status, detail }
  const body = Buffer.from(JSON.stringify(document))
  const list = ['content-type', 'application/problem+json', 'cache-control', 'no-store']
  if (status === 405) list.push('allow', 'GET, HEAD')
  list.push('content-length', String(body.length))
  return { status, fields: new Fields(list), body: method === 'HEAD' ? undefined : body }
}

/**
 * The answer for an error: of an `HttpProblem` its own; of an error of this package that a retry helps with 503; of
 * any other 500, which says nothing of it.
 */
export function problemOf(error: unknown, method: string | undefined): Answer {
  if (error instanceof HttpProblem)
    return problemAnswer(error.status, method, error.message, error.members)
  if (error instanceof PolycacheError && error.retryable)
    return problemAnswer(503, method, 'The data is not available now; try again.')
  return problemAnswer(500, method, 'The server failed; its log says why.')
}
