import { define, type Members } from '../redis-namespace/forward.ts'
import type { Ioredis, IoredisCommand } from '../redis-namespace/ioredis.ts'
import { layered } from '../redis-namespace/views.ts'
import type { Word } from '../redis-namespace/word.ts'
import { captured, own, refused } from './captured.ts'
import { transformed } from './transformers.ts'
import type { Prepared } from './ways.ts'

/** A command, if there is one. */
export interface IoredisPrepared extends Prepared {
  readonly command?: IoredisCommand
}

/** Makes commands of ioredis, and sends none. */
export interface IoredisMaker {
  /** The command that a method makes. */
  prepared(
    method: string,
    given: readonly unknown[],
    send: (command: IoredisCommand) => Promise<unknown>,
  ): IoredisPrepared
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
  const prepared: IoredisMaker['prepared'] = (method, given, send) => {
    last = undefined
    const answered = captured(makes, method, given)
    // The caller hears of it by `why`, or by the reply.
    Promise.resolve(answered).catch(() => {})
    const command = last as IoredisCommand | undefined
    if (command === undefined) return refused(method, answered)
    return {
      command,
      words: [command.name, ...own(command.args)],
      ...transformed(command),
      send: () => send(command),
    }
  }
  captured(view as unknown as Members, 'get', [''])
  // Which ioredis does not show on its clients.
  const Command = (last as unknown as IoredisCommand).constructor as new (
    name: string,
    args: readonly Word[],
    options: object,
  ) => IoredisCommand
  return {
    prepared,
    command: ([name, ...args]) => new Command(String(name), args, { replyEncoding: 'utf8' }),
  }
}
