import { InvalidArgument } from '../errors.ts'
import { define, type Members } from '../redis-namespace/forward.ts'
import type { Ioredis, IoredisCommand } from '../redis-namespace/ioredis.ts'
import { layered } from '../redis-namespace/views.ts'
import type { Word } from '../redis-namespace/word.ts'
import { captured } from './captured.ts'

/** Makes commands of ioredis, and sends none. */
export interface IoredisMaker {
  /** The command that a method makes. */
  made(method: string, given: readonly unknown[]): IoredisCommand
  /** A command whose keys have their prefixes; its reply is text. */
  command(words: readonly Word[]): IoredisCommand
}

/** The maker of a Redis or a Cluster, or of a namespace of it. */
export function ioredisMaker(
  client: Ioredis,
  namespacedAs: (view: Ioredis) => Ioredis,
): IoredisMaker {
  let last: IoredisCommand | undefined
  const { view, layer } = layered(client)
  define(layer, 'sendCommand', (command: IoredisCommand) => {
    last = command
    return command.promise
  })
  define(
    layer,
    'options',
    Object.create(client.options, { enableAutoPipelining: { value: false, writable: true } }),
  )
  const makes = namespacedAs(view) as unknown as Members
  const madeBy = (from: Members, method: string, given: readonly unknown[]): IoredisCommand => {
    last = undefined
    captured(from, method, given)
    if (last === undefined) throw new InvalidArgument(`${method} sends no command`)
    return last
  }
  // Which ioredis does not show on its clients.
  const Command = madeBy(view as unknown as Members, 'get', ['']).constructor as new (
    name: string,
    args: readonly Word[],
    options: object,
  ) => IoredisCommand
  return {
    made: (method, given) => madeBy(makes, method, given),
    command: ([name, ...args]) => new Command(String(name), args, { replyEncoding: 'utf8' }),
  }
}

/** Whether the program has set a transformer for replies of a command (`Command.setReplyTransformer`). */
export function transformed(command: IoredisCommand): { readonly isTransformed?: true } {
  const { _transformer } = command.constructor as { _transformer?: { reply?: Members } }
  return _transformer?.reply?.[command.name] === undefined ? {} : { isTransformed: true }
}
