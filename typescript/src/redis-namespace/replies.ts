import { isInvalidate, isKeyEvent, type Prefix } from './prefix.ts'
import { asLatin1, isWord, type Word } from './word.ts'

/** How a reply is freed of prefixes (spec/commands.md, "Replies"). */
export type ReplyKind = keyof typeof replies

type Change = (name: Word) => Word

/** Null, an error and anything of another shape stay as they are. */
export const replies = {
  key: (reply: unknown, prefix: Prefix): unknown => (isWord(reply) ? prefix.strip(reply) : reply),

  keys: (reply: unknown, prefix: Prefix): unknown =>
    Array.isArray(reply) ? prefix.stripAll(reply) : reply,

  first: (reply: unknown, prefix: Prefix): unknown =>
    Array.isArray(reply) && reply.length > 0 ? reply.with(0, replies.key(reply[0], prefix)) : reply,

  scan: (reply: unknown, prefix: Prefix): unknown =>
    Array.isArray(reply) && reply.length > 1
      ? reply.with(1, replies.keys(reply[1], prefix))
      : reply,

  streams(reply: unknown, prefix: Prefix): unknown {
    if (!Array.isArray(reply)) return fields(reply, (name) => prefix.strip(name))
    // A client may give a map as a flat list.
    if (isWord(reply[0])) return everySecond(reply, (name) => prefix.strip(name))
    return reply.map((pair) => {
      // ioredis 6 takes pairs for a flat list, where RESET has brought it back to RESP2.
      const mistaken = Array.isArray(pair) && Array.isArray(pair[0])
      return mistaken ? pair.map((one) => replies.first(one, prefix)) : replies.first(pair, prefix)
    })
  },

  channels: (reply: unknown, prefix: Prefix): unknown =>
    Array.isArray(reply)
      ? reply.filter((name) => isWord(name) && prefix.has(name)).map((name) => prefix.strip(name))
      : reply,

  counts(reply: unknown, prefix: Prefix): unknown {
    const strip = (name: Word) => prefix.stripChannel(name)
    return Array.isArray(reply) ? everySecond(reply, strip) : fields(reply, strip)
  },

  prefixes(reply: unknown, prefix: Prefix): unknown {
    if (Array.isArray(reply)) {
      const at = reply.findIndex((one) => isWord(one) && asLatin1(one) === 'prefixes')
      if (at < 0 || at + 1 === reply.length) return reply
      return reply.with(at + 1, replies.keys(reply[at + 1], prefix))
    }
    if (reply instanceof Map) {
      return new Map(
        [...reply].map(([name, value]) => [
          name,
          isWord(name) && asLatin1(name) === 'prefixes' ? replies.keys(value, prefix) : value,
        ]),
      )
    }
    if (!isRecord(reply) || !Object.hasOwn(reply, 'prefixes')) return reply
    return { ...reply, prefixes: replies.keys(reply.prefixes, prefix) }
  },

  /** Confirmations of subscriptions that come back as a command's reply. */
  messages: (reply: unknown, prefix: Prefix): unknown => message(reply, prefix),
}

/** What a server pushes to a subscriber; undefined when it tells of another namespace's key. */
export function message(event: unknown, prefix: Prefix): unknown {
  if (!Array.isArray(event)) return event
  const [kind] = event
  switch (isWord(kind) ? asLatin1(kind) : kind) {
    case 'message':
    case 'smessage':
      return published(event, prefix)
    case 'pmessage':
      return matched(event, prefix)
    case 'psubscribe':
    case 'punsubscribe':
      return named(event, (name) => prefix.stripChannelPattern(name))
    case 'subscribe':
    case 'unsubscribe':
    case 'ssubscribe':
    case 'sunsubscribe':
      return named(event, (name) => prefix.stripChannel(name))
    case 'invalidate':
      return invalidation(event, prefix)
    default:
      return event
  }
}

function named(event: unknown[], strip: Change): unknown {
  return isWord(event[1]) ? event.with(1, strip(event[1])) : event
}

function published(event: unknown[], prefix: Prefix): unknown {
  const [kind, channel, payload] = event
  if (!isWord(channel)) return event
  if (isInvalidate(channel)) return invalidation(event, prefix)
  const told = payloadOf(channel, payload, prefix)
  return told === undefined ? undefined : [kind, prefix.stripChannel(channel), told]
}

function matched(event: unknown[], prefix: Prefix): unknown {
  const [kind, pattern, channel, payload] = event
  if (!isWord(pattern) || !isWord(channel)) return event
  const told = payloadOf(channel, payload, prefix)
  if (told === undefined) return undefined
  return [kind, prefix.stripChannelPattern(pattern), prefix.stripChannel(channel), told]
}

/** The payload of an event's channel is the key. */
function payloadOf(channel: Word, payload: unknown, prefix: Prefix): unknown {
  if (!isKeyEvent(channel) || !isWord(payload)) return payload
  return prefix.has(payload) ? prefix.strip(payload) : undefined
}

/** Its last part is a list of keys; none means all of them. */
function invalidation(event: unknown[], prefix: Prefix): unknown {
  const keys = event.at(-1)
  if (!Array.isArray(keys)) return event
  const ours = replies.channels(keys, prefix) as unknown[]
  return ours.length === 0 ? undefined : event.with(-1, ours)
}

function everySecond(reply: unknown[], change: Change): unknown[] {
  return reply.map((one, at) => (at % 2 === 0 && isWord(one) ? change(one) : one))
}

/** A map with other names, as what it was: a Map or an object. */
function fields(reply: unknown, change: Change): unknown {
  if (reply instanceof Map) {
    return new Map([...reply].map(([name, value]) => [isWord(name) ? change(name) : name, value]))
  }
  if (!isRecord(reply)) return reply
  const changed = Object.fromEntries(
    Object.entries(reply).map(([name, value]) => [change(name), value]),
  )
  return Object.getPrototypeOf(reply) === null
    ? Object.assign(Object.create(null), changed)
    : changed
}

function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
