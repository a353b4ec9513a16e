import { InvalidArgument } from '../errors.ts'
import { CommandNotAllowed } from '../more-errors.ts'
import { define, forward, type Members, namesOf } from './forward.ts'
import { type Emitter, Messages } from './ioredis-messages.ts'
import { adopt, type Pipeline } from './ioredis-pipeline.ts'
import type { Servers } from './scope.ts'
import { alone, asItIs, type NamespaceOptions, Session, type TakeOff } from './session.ts'
import { Subscriptions } from './subscriptions.ts'
import { layered, sharedOf, viewOf } from './views.ts'
import { isWord, type Word } from './word.ts'

/** What is used of ioredis' Redis and Cluster. */
export interface Ioredis extends Emitter, Members {
  readonly isCluster: boolean
  readonly options: Members & { keyPrefix?: unknown; autoPipeliningIgnoredCommands?: string[] }
  readonly connectionEpoch: number
  getBuiltinCommands(): string[]
  sendCommand(command: IoredisCommand, ...rest: unknown[]): unknown
  duplicate(...given: unknown[]): Ioredis
  pipeline(commands?: unknown): Pipeline
  multi(...given: unknown[]): Pipeline | Promise<unknown>
  nodes(role: string): Ioredis[]
}

/** ioredis' Command: a call, with a promise of its reply. */
export interface IoredisCommand {
  name: string
  args: Word[]
  readonly replyEncoding: string | null | undefined
  readonly inTransaction: boolean
  readonly pipelineIndex?: number
  readonly promise: Promise<unknown>
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: unknown) => void
  transformReply(reply: unknown): unknown
  /** Makes another promise, so that it can be sent again. */
  initPromise(): void
  /** Set once its prefixes are on: a command is sent again after a reconnection. */
  [TAKE_OFF]?: TakeOff
  /** Set of a command in a pipeline that begins or ends a transaction. */
  [TURN]?: Turn
}

interface Turn {
  readonly found: ReturnType<Session['find']>
  /** Whether the pipeline has the transaction from its MULTI on: then it frees the replies of EXEC by itself. */
  readonly whole: boolean
}

const TAKE_OFF: unique symbol = Symbol('takes prefixes off the reply')
const TURN: unique symbol = Symbol('begins or ends a transaction')
/** Made of commands that pass the view themselves. */
const ON_VIEW =
  /^(call|callBuffer|send_command|sendCommand|multi|exec|pipeline|(s|h|z)?scan(Buffer)?Stream|createScanStream)$/

export function isIoredis(client: object): client is Ioredis {
  return 'getBuiltinCommands' in client && 'scriptsSet' in client && !('isPipeline' in client)
}

/** A view of a client, on the same connections, that knows one namespace's keys. */
export function ioredisView(client: Ioredis, options: NamespaceOptions): Ioredis {
  if (client.options.keyPrefix) {
    throw new InvalidArgument(
      'the client has a keyPrefix, which would be put before keys too; make it without one',
    )
  }
  const session = new Session(options, () => client.connectionEpoch, sharedOf(client))
  const subscriptions = new Subscriptions()
  const cluster = client.isCluster
  const { view, layer } = layered(client)
  forward(layer, view, client, notCommands(client))

  /**
   * Puts prefixes on, once. Gives the command's promise when it was answered without being sent.
   *
   * @param before the commands of its pipeline, if it is in one
   */
  function prepare(
    command: IoredisCommand,
    before?: readonly IoredisCommand[],
  ): Promise<unknown> | undefined {
    const { args } = command
    const found = session.find(command.name, args[0])
    if (found.emulated) {
      if (before) throw alone(found)
      return answer(command, session.emulate(found, servers(client)))
    }
    if (cluster && OF_ONE_NODE.has(found.name)) {
      if (before || found.name === 'SCAN') throw ofOneNode(found.name)
      return answer(command, keysOfAll(args))
    }
    const { subscribing } = found
    if (subscribing !== undefined && args.length === 0 && !subscribing.begins) {
      const names = subscriptions.end(subscribing.target)
      // Without any name the server would end the subscriptions of others on this connection.
      args.push(...(names.length > 0 ? names : [session.prefix.channel('')]))
      command[TAKE_OFF] = asItIs
      return undefined
    }
    // Before the arguments are changed: a dynamic namespace is asked once more, and may fail.
    const prefix = subscribing && session.prefix
    const takeOff = session.putArguments(found, args)
    if (subscribing && prefix) subscriptions.note(subscribing, args, prefix)
    command[TAKE_OFF] = takeOff
    if (before) {
      if (found.transactional) command[TURN] = { found, whole: isOpen(before) }
      // A pipeline frees the replies within EXEC by the commands that it knows, if it knows EXEC.
      if (found.name === 'EXEC' && command[TURN]?.whole) command.name = 'exec'
      takeOffReply(command, takeOff)
    } else {
      takeOffReply(command, session.send(found, takeOff))
    }
    return undefined
  }

  async function keysOfAll(args: Word[]): Promise<unknown> {
    const words = ['keys', ...args]
    const takeOff = session.rewrite(words)
    const all = await Promise.all(
      servers(client)
        .all()
        .map((send) => send([...words])),
    )
    return takeOff(all.flat())
  }

  function answer(command: IoredisCommand, answered: Promise<unknown>): Promise<unknown> {
    answered.then(
      (reply) => command.resolve(asAsked(command, reply)),
      (error) => command.reject(error),
    )
    return command.promise
  }

  define(
    layer,
    'sendCommand',
    (command: IoredisCommand, stream: unknown, node: unknown): unknown => {
      const known = command[TAKE_OFF]
      try {
        if (known === undefined) {
          const answered = prepare(command)
          if (answered !== undefined) return answered
        } else if (command.pipelineIndex !== undefined && !command.inTransaction) {
          const turn = command[TURN]
          if (turn === undefined) {
            session.batched(known)
          } else {
            const takeOff = session.send(turn.found, known)
            if (!turn.whole) takeOffReply(command, takeOff)
          }
        }
      } catch (error) {
        command.reject(error)
        return command.promise
      }
      return client.sendCommand(command, stream, node)
    },
  )

  // Pipelines that ioredis fills by itself; the client has others.
  const automatic = new Map<string, Pipeline>()
  define(layer, '_autoPipelines', automatic)
  define(layer, '_runningAutoPipelines', new Set())
  define(layer, 'options', optionsOf(client))

  const adopted = (pipeline: Pipeline, commands: unknown): Pipeline => {
    adopt(
      pipeline,
      (command) => command[TAKE_OFF] !== undefined || prepare(command, pipeline._queue),
      () => [...automatic.values()].includes(pipeline),
    )
    return Array.isArray(commands) ? pipeline.addBatch(commands) : pipeline
  }
  define(layer, 'pipeline', (commands?: unknown) => adopted(client.pipeline.call(view), commands))
  define(layer, 'multi', (first?: unknown, second?: unknown) => {
    const [commands, how] = Array.isArray(first) ? [first, second] : [undefined, first ?? second]
    const made = client.multi.call(view, how)
    return made instanceof Promise ? made : adopted(made, commands)
  })

  define(layer, 'monitor', async (...given: unknown[]) => {
    session.find('MONITOR', undefined)
    return (client.monitor as (...given: unknown[]) => unknown)(...given)
  })
  define(layer, 'duplicate', (...given: unknown[]) =>
    ioredisView(client.duplicate(...given), options),
  )
  new Messages(client, subscriptions).give(layer, view)
  return viewOf(view, client, options)
}

/** Commands that ioredis sends to any node of a cluster, which tells of its own keys alone. */
const OF_ONE_NODE = new Set(['KEYS', 'SCAN'])

function ofOneNode(name: string): CommandNotAllowed {
  const said =
    name === 'SCAN'
      ? "walk through each: cluster.nodes('master').map((node) => namespaced(node, options).scanStream())"
      : 'call it by itself, and all primaries are asked'
  return new CommandNotAllowed(`${name} would see the keys of one node of the cluster; ${said}`)
}

/** Whether these commands leave a transaction open. */
function isOpen(commands: readonly IoredisCommand[]): boolean {
  const last = commands.findLast(({ name }) => /^(multi|exec|discard|reset)$/i.test(name))
  return last !== undefined && /^multi$/i.test(last.name)
}

function takeOffReply(command: IoredisCommand, takeOff: TakeOff): void {
  if (takeOff === asItIs) return
  const transform = command.transformReply
  command.transformReply = (reply) => takeOff(transform.call(command, reply))
}

/** Methods and accessors that the client does itself. Scripts that it was given are commands. */
function* notCommands(client: Ioredis): Generator<string> {
  const commands = new Set(client.getBuiltinCommands())
  const given = new Set([
    ...Object.keys(client.scriptsSet as object),
    ...(client.addedBuiltinSet as Set<string>),
  ])
  for (const name of namesOf(Object.getPrototypeOf(client) as object)) {
    const command = name.replace(/Buffer$/, '')
    if (commands.has(command) || given.has(command) || ON_VIEW.test(name)) continue
    yield name
  }
}

/** Commands that are several do not go into a pipeline; and where it groups by slot, it does not know the prefix. */
function optionsOf(client: Ioredis): Ioredis['options'] {
  const options: Ioredis['options'] = Object.create(client.options)
  if (client.isCluster) options.enableAutoPipelining = false
  options.autoPipeliningIgnoredCommands = [
    ...(client.options.autoPipeliningIgnoredCommands ?? []),
    ...['dbsize', 'flushdb', 'randomkey', 'DBSIZE', 'FLUSHDB', 'RANDOMKEY'],
  ]
  return options
}

function servers(client: Ioredis): Servers {
  const masters = () => (client.isCluster ? client.nodes('master') : [client])
  return {
    all: () => masters().map((node) => (words) => raw(node, words)),
    unlink: (keys) =>
      client.isCluster
        ? Promise.all(keys.map((key) => raw(client, ['unlink', key])))
        : raw(client, ['unlink', ...keys]),
  }
}

function raw(client: Ioredis, [name, ...rest]: Word[]): Promise<unknown> {
  const method = client[`${String(name).toLowerCase()}Buffer`] as (
    ...words: Word[]
  ) => Promise<unknown>
  return method.apply(client, rest)
}

/** A reply as the command's encoding says. */
function asAsked(command: IoredisCommand, reply: unknown): unknown {
  if (Array.isArray(reply)) {
    return reply.map((one) => (command.replyEncoding ? String(one) : one))
  }
  return isWord(reply) && typeof reply === 'string' && !command.replyEncoding
    ? Buffer.from(reply)
    : reply
}
