import { createHash, randomUUID } from 'node:crypto'
import type { Members } from '../redis-namespace/forward.ts'
import type { IoredisCommand } from '../redis-namespace/ioredis.ts'
import type { Prepared } from './ways.ts'

/** Reads of which ioredis itself makes something else, in one release or another. */
const OWN = /^(hgetall|xread|zdiff|zinter|zunion|zrange|zrangebyscore|zrevrange|zrevrangebyscore)$/

const PROCESS = randomUUID()
const marks = new WeakMap<object, string>()
let count = 0

/** Of a command whose replies are transformed (`Command.setReplyTransformer`), by ioredis or by the program. */
export function transformed(command: IoredisCommand): Pick<Prepared, 'isTransformed' | 'shape'> {
  const { _transformer } = command.constructor as { _transformer?: { reply?: Members } }
  const transformer = _transformer?.reply?.[command.name]
  if (typeof transformer !== 'function') return {}
  let mark = marks.get(transformer)
  if (mark === undefined) {
    mark = markOf(command.name, transformer)
    marks.set(transformer, mark)
  }
  return { isTransformed: true, shape: mark }
}

/** What a function does is not known: other processes share what ioredis' own make, which their text tells from the program's. */
function markOf(name: string, transformer: object): string {
  const text = String(transformer)
  if (OWN.test(name) && !text.includes('[native code]')) {
    return createHash('sha256').update(text).digest('hex')
  }
  return `${PROCESS} ${count++}`
}
