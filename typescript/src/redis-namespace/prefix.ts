import { InvalidArgument } from '../errors.ts'
import { InvalidNamespace } from '../more-errors.ts'
import { asBuffer, asLatin1, type Word } from './word.ts'

const GLOB = /[*?[\]\\]/g
const KEYSPACE = /^(__keyspace@[^_]*__:)(.*)$/s
const KEYEVENT = '__keyevent@'
const NOTIFICATION = '__key'
/** Where the server tells a connection of keys that changed. */
export const INVALIDATE = '__redis__:invalidate'

/** Text, and its bytes for names that are bytes. */
class Part {
  readonly text: string
  readonly bytes: Buffer
  /** The bytes as text of a byte each. */
  readonly latin1: string

  constructor(text: string) {
    this.text = text
    this.bytes = Buffer.from(text)
    this.latin1 = this.bytes.toString('latin1')
  }

  before(name: Word): Word {
    if (typeof name === 'string') return this.text + name
    return Buffer.concat([this.bytes, name])
  }

  begins(name: Word): boolean {
    if (typeof name === 'string') return name.startsWith(this.text)
    const { length } = this.bytes
    return name.length >= length && this.bytes.equals(name.subarray(0, length))
  }

  off(name: Word): Word {
    return typeof name === 'string'
      ? name.slice(this.text.length)
      : name.subarray(this.bytes.length)
  }
}

/** The prefix of a namespace's keys, how it is put on and taken off (spec/commands.md, "Where things stand"). */
export class Prefix {
  readonly #key: Part
  readonly #glob: Part

  /** @param text the namespace with its separator */
  constructor(text: string) {
    this.#key = new Part(text)
    this.#glob = new Part(this.#key.text.replace(GLOB, '\\$&'))
  }

  /** The namespace with its separator. */
  get text(): string {
    return this.#key.text
  }

  key(name: Word): Word {
    return typeof name === 'string' ? this.#key.text + name : this.#key.before(name)
  }

  pattern(glob: Word): Word {
    return this.#glob.before(glob)
  }

  channel(name: Word): Word {
    return isInvalidate(name) ? name : (putOn(name, this.#key) ?? this.key(name))
  }

  /** A channel that is published to. What the server itself tells there reaches every namespace, and so would this. */
  publish(name: Word): Word {
    if (!isInvalidate(name) && !isKeyEvent(name)) return this.channel(name)
    throw new InvalidArgument(
      `every namespace hears what is published to ${JSON.stringify(String(name))}, where the server ` +
        'tells of keys; choose another channel',
    )
  }

  channelPattern(glob: Word): Word {
    return putOn(glob, this.#glob) ?? this.pattern(glob)
  }

  /** A pattern of SORT's BY. */
  by(pattern: Word): Word {
    return asLatin1(pattern).includes('*') ? this.#sortPattern(pattern) : pattern
  }

  /** A pattern of SORT's GET. */
  get(pattern: Word): Word {
    return asLatin1(pattern) === '#' ? pattern : this.#sortPattern(pattern)
  }

  /** Whether the name is of this namespace. */
  has(name: Word): boolean {
    return this.#key.begins(name)
  }

  /** The name without the prefix, and one of another namespace as it is. */
  strip(name: Word): Word {
    return this.#key.begins(name) ? this.#key.off(name) : name
  }

  /** The names without the prefix; what is not a name stays as it is. */
  stripAll(names: readonly unknown[]): unknown[] {
    const { text } = this.#key
    const { length } = text
    const bare = new Array<unknown>(names.length)
    for (let at = 0; at < names.length; at++) {
      const name = names[at]
      if (typeof name === 'string') {
        // Faster than startsWith in V8, where that is a function call.
        bare[at] = name.slice(0, length) === text ? name.slice(length) : name
      } else {
        bare[at] = name instanceof Uint8Array ? this.strip(name) : name
      }
    }
    return bare
  }

  /** The name of a channel as its subscriber gave it. */
  stripChannel(name: Word): Word {
    return takeOff(name, this.#key) ?? this.strip(name)
  }

  /** A pattern of channels as its subscriber gave it. */
  stripChannelPattern(glob: Word): Word {
    return takeOff(glob, this.#glob) ?? (this.#glob.begins(glob) ? this.#glob.off(glob) : glob)
  }

  // SORT puts an element where a pattern's first asterisk stands, whatever is before it.
  #sortPattern(pattern: Word): Word {
    if (!this.text.includes('*')) return this.key(pattern)
    throw new InvalidNamespace(
      `SORT's BY and GET cannot be used in a namespace that begins ${JSON.stringify(this.text)}: ` +
        'its asterisk would be taken for the element',
    )
  }
}

export function isInvalidate(name: Word): boolean {
  return name.length === INVALIDATE.length && asLatin1(name) === INVALIDATE
}

/** Whether the channel's payload is a key. */
export function isKeyEvent(channel: Word): boolean {
  return begins(channel, KEYEVENT)
}

function begins(name: Word, start: string): boolean {
  if (typeof name === 'string') return name.startsWith(start)
  return asBuffer(name.subarray(0, start.length)).toString('latin1') === start
}

/** The channel of keyspace notifications of a key of this namespace; undefined when it is no such channel. */
function putOn(name: Word, part: Part): Word | undefined {
  if (!begins(name, NOTIFICATION)) return undefined
  if (begins(name, KEYEVENT)) return name
  const match = KEYSPACE.exec(asLatin1(name))
  if (match !== null) return like(name, match[1] + part.latin1 + match[2])
  throw new InvalidArgument(
    'a channel of notifications begins with __keyspace@<db>__: or __keyevent@<db>__:, ' +
      `and ${JSON.stringify(String(name))} may be both`,
  )
}

function takeOff(name: Word, part: Part): Word | undefined {
  if (!begins(name, NOTIFICATION)) return undefined
  if (begins(name, KEYEVENT)) return name
  const match = KEYSPACE.exec(asLatin1(name))
  if (!match?.[2].startsWith(part.latin1)) return undefined
  return like(name, match[1] + match[2].slice(part.latin1.length))
}

/** Text of a byte a character, as text or bytes like the name it was made of. */
function like(name: Word, latin1: string): Word {
  const bytes = Buffer.from(latin1, 'latin1')
  return typeof name === 'string' ? bytes.toString() : bytes
}
