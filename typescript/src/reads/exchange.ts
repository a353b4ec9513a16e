import type { Word } from '../redis-namespace/word.ts'
import { expiryOf, questions } from './expiry.ts'
import type { Plan } from './plan.ts'
import type { Line, Prepared, Way } from './ways.ts'

/** What the client was told. */
export interface Exchanged {
  readonly reply: unknown
  /** What GETEX found on the connection that brought the reply; empty for nothing, and if it was another connection. */
  readonly answer: Buffer
  /** When the reply ends by itself: milliseconds since 1970, 0 for never; undefined where that is not known. */
  readonly expires: number | undefined
}

const NOTHING = Buffer.alloc(0)

/**
 * Has the client read, as `spec/reads.md` says in "A read" and "Over a Cluster".
 * @param isToBeKept `askedKey` is the proof then; else it is who the database is
 * @param slot of its keys, in a Cluster
 * @throws what the client throws for the read
 */
export async function exchange(
  way: Way,
  prepared: Prepared,
  plan: Plan,
  askedKey: Buffer,
  isToBeKept: boolean,
  slot: number,
): Promise<Exchanged> {
  if (way.lineTo === undefined) return exchanged(lineOf(way), prepared, plan, askedKey, isToBeKept)
  if (isToBeKept) {
    const line = await lineTo(way, slot)
    if (line !== undefined) return exchanged(line, prepared, plan, askedKey, true)
  }
  const reply = await prepared.send()
  // After the reply: another primary has this key, and may have answered before the one that was read from.
  const answer = isToBeKept ? null : await asked(way, askedKey)
  return { reply, answer: asAnswer(answer), expires: undefined }
}

/** By one connection, in one round trip. */
async function exchanged(
  line: Line,
  prepared: Prepared,
  plan: Plan,
  askedKey: Buffer,
  isToBeKept: boolean,
): Promise<Exchanged> {
  const epoch = line.epoch()
  const sentAt = Date.now()
  const { first, settled, read, after } = line.together(() => ({
    first: line.provesBefore ? asked(line, askedKey) : undefined,
    settled: Promise.allSettled(isToBeKept ? questions(plan).map((words) => line.send(words)) : []),
    read: line.read(prepared),
    after: asked(line, askedKey),
  }))
  const reply = await read
  const answers = await settled
  const answer = await after
  const isSame = line.epoch() === epoch && (first === undefined || (await first) === answer)
  return {
    reply,
    answer: isSame ? asAnswer(answer) : NOTHING,
    expires: expiryOf(plan, answers, sentAt),
  }
}

function lineOf(way: Way): Line {
  return {
    epoch: () => way.epoch(),
    ...(way.provesBefore && { provesBefore: true }),
    send: (words) => way.send(words),
    read: (prepared) => prepared.send(),
    together: (sends) => way.together(sends),
  }
}

/** The connection to a primary; undefined if it cannot be had: what is the matter, the Cluster says. */
async function lineTo(way: Way, slot: number): Promise<Line | undefined> {
  try {
    return await way.lineTo?.(slot)
  } catch {
    return undefined
  }
}

function asked(by: { send(words: readonly Word[]): Promise<unknown> }, key: Buffer) {
  if (key.length === 0) return Promise.resolve(null)
  return by.send(['GETEX', key]).catch(() => null)
}

function asAnswer(answer: unknown): Buffer {
  const isText = typeof answer === 'string' || Buffer.isBuffer(answer)
  return isText ? Buffer.from(answer as string) : NOTHING
}
