import { InvalidArgument } from '../errors.ts'
import { chain, define, forward, type Members, namesOf } from './forward.ts'
import { Listeners } from './node-redis-listeners.ts'
import type { Servers } from './scope.ts'
import { asItIs, type NamespaceOptions, Session, type TakeOff } from './session.ts'
import { layered, sharedOf, viewOf } from './views.ts'
import { isWord, type Word } from './word.ts'

/** What is used of node-redis' client. */
export interface NodeRedis extends Members {
  readonly _self: NodeRedis
  readonly options?: { keyPrefix?: unknown }
  readonly clientSideCache?: unknown
  readonly socketEpoch: number
  readonly _commandOptions?: CommandOptions
  _executeCommand(
    command: unknown,
    parser: Parser,
    options: CommandOptions | undefined,
    transform: Transform | undefined,
  ): Promise<unknown>
  _executeMulti(commands: Queued[], ...rest: unknown[]): Promise<unknown[]>
  _executePipeline(commands: Queued[], ...rest: unknown[]): Promise<unknown[]>
  sendCommand(words: readonly Word[], options?: CommandOptions): Promise<unknown>
  withCommandOptions(options: CommandOptions | undefined): NodeRedis
  duplicate(overrides?: unknown): NodeRedis
  createPool(options?: unknown): NodeRedisPool
  unlink(keys: Word[]): Promise<unknown>
  MULTI(): unknown
}

/** What is used of node-redis' RedisClientPool. */
export interface NodeRedisPool extends Members {
  readonly _self: NodeRedisPool
  execute(run: (client: NodeRedis) => unknown): Promise<unknown>
  MULTI(): unknown
}

export interface Parser {
  readonly redisArgs: Word[]
  readonly keys: Word[]
  readonly preserve: unknown
}

export interface Queued {
  readonly args: Word[]
}

export interface CommandOptions {
  readonly typeMapping?: Readonly<Record<number, unknown>>
}

export type Transform = (reply: unknown, preserve: unknown, typeMapping: unknown) => unknown
type Batch = '_executeMulti' | '_executePipeline'

/** RESP's sign of a text of known length; a client gives such replies as text or bytes. */
const BLOB_STRING = '$'.charCodeAt(0)
export const AS_BYTES: CommandOptions = { typeMapping: { [BLOB_STRING]: Buffer } }

/** Made of commands that pass the view themselves, or of a copy of the view. */
const ON_VIEW =
  /^(withCommandOptions|withTypeMapping|withAbortSignal|_commandOptionsProxy|asap|legacy|_executeScript|MULTI|.*[sS]canIterator|.*[sS]can\w*Iterator)$/

export function isNodeRedis(client: object): client is NodeRedis {
  return '_executeCommand' in client && '_executeMulti' in client && 'socketEpoch' in client
}

export function isNodeRedisPool(client: object): client is NodeRedisPool {
  return 'execute' in client && '_self' in client && 'totalClients' in client
}

/** A view of a client, on the same connection, that knows one namespace's keys. */
export function nodeRedisView(client: NodeRedis, options: NamespaceOptions): NodeRedis {
  refuseKeyPrefix(client.options)
  const session = new Session(options, () => client.socketEpoch, sharedOf(client._self))
  const { view, layer } = layered(client)
  become(layer, view, client, '_executeCommand')

  // Neither is an async function: each of these costs every command some turns of the event loop.
  define(
    layer,
    '_executeCommand',
    (
      command: unknown,
      parser: Parser,
      given: CommandOptions | undefined,
      transform: Transform | undefined,
    ): Promise<unknown> => {
      try {
        const words = parser.redisArgs
        const found = session.find(words[0], words[1])
        if (found.emulated) {
          return emulated(session, found, servers(client), given).then((reply) =>
            transform ? transform(reply, parser.preserve, given?.typeMapping) : reply,
          )
        }
        const takeOff = session.send(found, session.put(found, words))
        // The client's own cache finds by these what the server tells to be invalid.
        if (client.clientSideCache) parser.keys.forEach(rename(session, parser.keys))
        return client._executeCommand(command, parser, given, before(transform, takeOff))
      } catch (error) {
        return Promise.reject(error)
      }
    },
  )

  define(
    layer,
    'sendCommand',
    function (this: NodeRedis, given: readonly Word[], how?: CommandOptions): Promise<unknown> {
      try {
        const options = { ...this._commandOptions, ...how }
        // A script is sent again under another name when the server does not know it: with the same words.
        const words = [...given]
        const found = session.find(words[0], words[1])
        if (found.emulated) return emulated(session, found, servers(client), options)
        const takeOff = session.send(found, session.put(found, words))
        const reply = client.sendCommand(words, options)
        return takeOff === asItIs ? reply : reply.then(takeOff)
      } catch (error) {
        return Promise.reject(error)
      }
    },
  )

  const batch = (name: Batch) =>
    async function (this: NodeRedis, commands: Queued[], ...rest: unknown[]) {
      const takeOffs: TakeOff[] = []
      const prefixed = commands.map((command) => {
        const args = [...command.args]
        takeOffs.push(session.rewrite(args))
        return { ...command, args }
      })
      // Within a transaction that was begun by hand these are queued, and EXEC brings the replies.
      for (const takeOff of takeOffs) session.batched(takeOff)
      const bare = client.withCommandOptions(this._commandOptions)
      const replies = await bare[name](prefixed, ...rest)
      return replies.map((reply, at) => takeOffs[at](reply))
    }
  define(layer, '_executeMulti', batch('_executeMulti'))
  define(layer, '_executePipeline', batch('_executePipeline'))
  alias(layer, ['multi'], client.MULTI)

  alias(layer, ['WATCH', 'watch'], async (keys: Word | Word[]) => {
    const words = ['WATCH', ...[keys].flat()]
    session.rewrite(words)
    return (client.WATCH as (keys: Word[]) => Promise<unknown>)(words.slice(1))
  })
  alias(layer, ['MONITOR', 'monitor'], async (...given: unknown[]) => {
    session.find('MONITOR', undefined)
    return (client.MONITOR as (...given: unknown[]) => unknown)(...given)
  })

  new Listeners(client, session).give(layer, view)
  define(layer, 'duplicate', (overrides?: unknown) =>
    nodeRedisView(client.duplicate(overrides), options),
  )
  define(layer, 'createPool', (given?: unknown) =>
    nodeRedisPoolView(client.createPool(given), options),
  )
  return viewOf(view, client, options)
}

/** A view of a pool, whose clients are views. */
export function nodeRedisPoolView(pool: NodeRedisPool, options: NamespaceOptions): NodeRedisPool {
  const views = new WeakMap<NodeRedis, NodeRedis>()
  const { view, layer } = layered(pool)
  become(layer, view, pool, 'execute')
  define(layer, 'execute', (run: (client: NodeRedis) => unknown) =>
    pool.execute((client) => {
      const known = views.get(client) ?? nodeRedisView(client, options)
      views.set(client, known)
      return run(known)
    }),
  )
  define(layer, 'sendCommand', (pool.sendCommand as () => unknown).bind(view))
  alias(layer, ['multi'], pool.MULTI)
  return viewOf(view, pool, options)
}

/** Makes the view the one that commands are done on; everything else is done by the client. */
export function become<C extends Members & { readonly _self: Members }>(
  layer: object,
  view: C,
  client: C,
  base: string,
): void {
  const names = new Set<string>()
  let above = false
  // Commands are on a class of their own, below the one that has the client's methods. A view's layer is no class.
  for (const one of chain(client)) {
    above ||= Object.hasOwn(one, 'constructor') && Object.hasOwn(one, base)
    if (above) for (const name of namesOf(one)) names.add(name)
  }
  // Methods that are fields.
  for (const name of Object.getOwnPropertyNames(client._self)) {
    if (name !== '_self' && typeof client._self[name] === 'function') names.add(name)
  }
  forward(
    layer,
    view,
    client,
    [...names].filter((name) => !ON_VIEW.test(name)),
  )
  define(layer, '_self', view)
  define(layer, '_keyPrefix', undefined)
}

export function alias(layer: object, names: string[], value: unknown): void {
  for (const name of names) define(layer, name, value)
}

export function refuseKeyPrefix(options: { keyPrefix?: unknown } | undefined): void {
  if (!options?.keyPrefix) return
  throw new InvalidArgument(
    'the client has a keyPrefix, which would be put before keys too; make it without one',
  )
}

export function before(transform: Transform | undefined, takeOff: TakeOff): Transform | undefined {
  if (takeOff === asItIs) return transform
  return (reply, preserve, typeMapping) => {
    const own = takeOff(reply)
    return transform ? transform(own, preserve, typeMapping) : own
  }
}

export function rename(session: Session, keys: Word[]): (key: Word, at: number) => void {
  return (key, at) => {
    keys[at] = session.prefix.key(key)
  }
}

function servers(client: NodeRedis): Servers {
  return {
    all: () => [(words) => client.sendCommand(words, AS_BYTES)],
    unlink: (keys) => client.sendCommand(['UNLINK', ...keys]),
  }
}

export async function emulated(
  session: Session,
  found: ReturnType<Session['find']>,
  servers: Servers,
  options: CommandOptions | undefined,
): Promise<unknown> {
  return asAsked(await session.emulate(found, servers), options)
}

/** Text or bytes, as the command's options say. */
function asAsked(reply: unknown, options: CommandOptions | undefined): unknown {
  if (!isWord(reply)) return reply
  const bytes = options?.typeMapping?.[BLOB_STRING] === Buffer
  if (typeof reply === 'string') return reply
  return bytes ? reply : Buffer.from(reply).toString()
}
