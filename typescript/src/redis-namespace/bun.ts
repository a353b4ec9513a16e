import { InvalidArgument } from '../errors.ts'
import { chain, define, forward, type Members, namesOf } from './forward.ts'
import { wrap } from './node-redis-listeners.ts'
import type { Servers } from './scope.ts'
import { asItIs, type NamespaceOptions, Session, type TakeOff } from './session.ts'
import { layered, sharedOf, viewOf } from './views.ts'
import { asBuffer, isWord, type Word } from './word.ts'

/** What is used of Bun's RedisClient. */
export interface BunRedis extends Members {
  send(command: string, words: unknown[]): Promise<unknown>
  duplicate(): Promise<BunRedis>
}

type Listener = (message: unknown, channel: Word) => unknown
type Method = (...given: unknown[]) => Promise<unknown>
type Send = (given: unknown[]) => Promise<unknown>

/** Members that are not commands. Every other method is the command of its name. */
const NO_COMMANDS = ['bufferedAmount', 'close', 'connect', 'connected', 'onclose', 'onconnect']

export function isBunRedis(client: object): client is BunRedis {
  const bun = (globalThis as { Bun?: { RedisClient?: abstract new () => unknown } }).Bun
  return bun?.RedisClient !== undefined && client instanceof bun.RedisClient
}

/** A view of a client, on the same connection, that knows one namespace's keys. */
export function bunView(client: BunRedis, options: NamespaceOptions): BunRedis {
  const session = new Session(options, undefined, sharedOf(client))
  const { view, layer } = layered(client)
  forward(layer, view, client, NO_COMMANDS)

  /**
   * Sends a command by a method of the client that is given its words without the name. Not an async
   * function: each of these costs every command some turns of the event loop.
   *
   * @param given the words; the list is changed
   */
  function run(name: string, given: unknown[], send: Send): Promise<unknown> {
    try {
      const texts = given.every(isText)
      if (!texts && !isText(given[0])) return runMixed(name, given.map(copy), send)
      const found = session.find(name, given[0] as string | undefined)
      // A command whose first word is its key may be given anything else: it stays as it is.
      if (found.emulated || !(texts || found.firstKey)) return runMixed(name, given.map(copy), send)
      const takeOff = told(
        found,
        session.send(found, session.putArguments(found, given as string[])),
      )
      const reply = send(given)
      return takeOff === asItIs ? reply : reply.then(takeOff)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** The same for words that may be lists, numbers and objects. */
  async function runMixed(name: string, given: unknown[], send: Send): Promise<unknown> {
    const places = leaves(given)
    const words = [name, ...places.map(([list, at]) => asWord(list[at]))]
    const found = session.find(words[0], words[1])
    if (found.emulated) return asText(await session.emulate(found, servers(client)))
    if (!found.firstKey && found.kind !== 'pass') places.forEach(refuseObject(name))
    const before = [...words]
    const takeOff = told(found, session.send(found, session.put(found, words)))
    places.forEach(([list, at], index) => {
      if (words[index + 1] !== before[index + 1]) list[at] = words[index + 1]
    })
    const reply = await send([...given, ...words.slice(before.length)])
    return takeOff === asItIs ? reply : takeOff(reply)
  }

  for (const name of namesOf(prototypeOf(client))) {
    if (NO_COMMANDS.includes(name)) continue
    const method = client[name] as Method
    const command = name === 'getBuffer' ? 'GET' : name.toUpperCase()
    define(layer, name, (...given: unknown[]) =>
      run(command, given, (own) => method.apply(client, own)),
    )
  }
  define(layer, 'send', (command: string, words: unknown[]) =>
    run(command, [...words], (own) => client.send(command, own)),
  )
  giveSubscriptions(layer, client, session)
  define(layer, 'duplicate', async () => bunView(await client.duplicate(), options))
  return viewOf(view, client, options)
}

/** Bun has a listener for each channel; its patterns have none. */
function giveSubscriptions(layer: object, client: BunRedis, session: Session): void {
  const all = new Map<Word, Map<Listener, Listener>>()
  const names = (command: string, channels: unknown): Word[] => {
    const words = [command, ...([channels].flat() as Word[])]
    session.rewrite(words)
    return words.slice(1)
  }
  define(layer, 'subscribe', async (channels: unknown, listener: Listener) => {
    const { prefix } = session
    let count: unknown
    for (const name of names('SUBSCRIBE', channels)) {
      const known = all.get(name) ?? new Map<Listener, Listener>()
      const wrapped = known.get(listener) ?? wrap(listener, prefix)
      all.set(name, known.set(listener, wrapped))
      count = await (client.subscribe as Method)(name, wrapped)
    }
    return count
  })
  define(layer, 'unsubscribe', async (channels?: unknown, listener?: Listener) => {
    const some = channels === undefined ? [...all.keys()] : names('UNSUBSCRIBE', channels)
    for (const name of some) {
      const known = all.get(name)
      for (const [own, wrapped] of known ?? []) {
        if (listener !== undefined && own !== listener) continue
        known?.delete(own)
        await (client.unsubscribe as Method)(name, wrapped)
      }
      if (known?.size === 0) all.delete(name)
    }
  })
}

/** Of a subscription Bun says what was pushed: its type and the rest of it apart. */
function told(found: ReturnType<Session['find']>, takeOff: TakeOff): TakeOff {
  if (found.subscribing === undefined) return takeOff
  return (reply) => {
    if (!isPushed(reply)) return takeOff(reply)
    const [, ...data] = takeOff([reply.type, ...reply.data]) as unknown[]
    return { ...reply, data }
  }
}

function isPushed(reply: unknown): reply is { type: string; data: unknown[] } {
  return typeof reply === 'object' && reply !== null && 'data' in reply && Array.isArray(reply.data)
}

function prototypeOf(client: BunRedis): object {
  for (const one of chain(client)) if (Object.hasOwn(one, 'send')) return one
  throw new InvalidArgument('not a client of this Bun')
}

/** Where single words stand in arguments that may be lists. */
function leaves(given: unknown[]): [list: unknown[], at: number][] {
  return given.flatMap((one, at) => (Array.isArray(one) ? leaves(one) : [[given, at]])) as [
    unknown[],
    number,
  ][]
}

function isText(given: unknown): given is string {
  return typeof given === 'string'
}

function copy(given: unknown): unknown {
  return Array.isArray(given) ? given.map(copy) : given
}

function asWord(given: unknown): Word {
  if (isWord(given)) return given
  if (given instanceof ArrayBuffer) return new Uint8Array(given)
  return typeof given === 'object' && given !== null ? '' : String(given)
}

/** Where keys stand is only known of plain words. */
function refuseObject(name: string): (place: [list: unknown[], at: number]) => void {
  return ([list, at]) => {
    const given = list[at]
    if (typeof given !== 'object' || given === null) return
    if (isWord(given) || given instanceof ArrayBuffer) return
    throw new InvalidArgument(
      `${name} in a namespace takes its words one by one, not ${Object.prototype.toString.call(given)}`,
    )
  }
}

function asText(reply: unknown): unknown {
  return reply instanceof Uint8Array ? asBuffer(reply).toString() : reply
}

function servers(client: BunRedis): Servers {
  return {
    all: () => [(words) => asHex(client, words)],
    unlink: (keys) => client.send('UNLINK', keys),
  }
}

/** Does a command, and gives the keys of its reply as hexadecimal digits. */
const HEX = `
local reply = redis.call(unpack(ARGV))
local function hex(key)
  return (key:gsub('.', function(byte) return string.format('%02x', byte:byte()) end))
end
if type(reply) == 'table' then
  for at, key in ipairs(reply[2]) do reply[2][at] = hex(key) end
elseif reply then
  reply = hex(reply)
end
return reply`

/** Keys as bytes. Bun's client makes text of replies, in which a key that is not text is lost. */
async function asHex(client: BunRedis, words: Word[]): Promise<unknown> {
  const reply = await client.send('EVAL', [HEX, '0', ...words])
  if (!Array.isArray(reply)) return reply === null ? null : Buffer.from(String(reply), 'hex')
  const [cursor, keys] = reply as [string, string[]]
  return [cursor, keys.map((key) => Buffer.from(key, 'hex'))]
}
