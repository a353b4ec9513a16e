import { CommandNotAllowed, InvalidArgument } from '../errors.ts'
import { type Command, CommandTable, type TableOptions } from './command-table.ts'
import { type Namespace, Namespaces } from './namespaces.ts'
import type { Prefix } from './prefix.ts'
import { message } from './replies.ts'
import { putOnRange } from './rules.ts'
import { emulate, narrow, type Servers } from './scope.ts'
import { asLatin1, isWord, type Word } from './word.ts'

export interface NamespaceOptions extends TableOptions {
  /** A name, a list of nested ones, or a function that is asked at every command. */
  readonly namespace: Namespace
}

/** Takes the prefixes off a reply. */
export type TakeOff = (reply: unknown) => unknown

/** What leaves a reply as it is. */
export const asItIs: TakeOff = (reply) => reply

/** What has been sent since MULTI: EXEC brings the replies. */
interface Transaction {
  readonly connection: unknown
  readonly queued: { takeOff: TakeOff; refused: boolean }[]
}

const OPTIONS = new Set(['namespace', 'allow', 'commands'])

/** Rewrites what one client sends and what it gets back. */
export class Session {
  readonly #namespaces: Namespaces
  readonly #table: CommandTable
  readonly #connection: () => unknown
  #transaction: Transaction | undefined

  /** @param connection what changes with each connection, where a transaction ends with it */
  constructor(options: NamespaceOptions, connection: () => unknown = () => undefined) {
    for (const name of Object.keys(options)) {
      if (!OPTIONS.has(name)) throw new InvalidArgument(`there is no option ${name}`)
    }
    const { namespace, ...added } = options
    this.#namespaces = new Namespaces(namespace)
    this.#table = Object.keys(added).length === 0 ? CommandTable.default : new CommandTable(added)
    this.#connection = connection
  }

  /** The prefix of this moment. */
  get prefix(): Prefix {
    return this.#namespaces.prefix
  }

  /** The command of a name and the word that follows it. */
  find(name: Word, next: Word | undefined): Command {
    return this.#table.find(name, next)
  }

  /** Puts prefixes on the words, in place, of a command that may be part of a batch. */
  rewrite(words: Word[]): TakeOff {
    const command = this.find(words[0], words[1])
    if (command.emulated) throw alone(command)
    return this.put(command, words)
  }

  /** Puts prefixes on the words, in place, whatever transaction is open. */
  put(command: Command, words: Word[]): TakeOff {
    const prefix = this.#namespaces.prefix
    if (command.firstKey) {
      if (words.length > 1) words[1] = prefix.key(words[1])
    } else if (command.range !== undefined) {
      putOnRange(words, prefix, command.range, 0)
    } else {
      command.rewrite(words, prefix)
      narrow(command.name, words, prefix)
    }
    return command.replies ? (reply) => command.reply(reply, prefix) : asItIs
  }

  /** The same for a command's words without its name. */
  putArguments(command: Command, words: Word[]): TakeOff {
    if (command.firstKey) {
      if (words.length > 0) words[0] = this.#namespaces.prefix.key(words[0])
      return asItIs
    }
    if (command.range !== undefined) {
      const prefix = this.#namespaces.prefix
      putOnRange(words, prefix, command.range, 1)
      return command.replies ? (reply) => command.reply(reply, prefix) : asItIs
    }
    const all = [command.name, ...words]
    // The name may be a container's and its subcommand's; only its place counts.
    const takeOff = this.put(command, all)
    for (let index = 1; index < all.length; index++) words[index - 1] = all[index]
    return takeOff
  }

  /** Minds transactions: what takes prefixes off the reply of a command that is sent by itself now. */
  send(command: Command, takeOff: TakeOff): TakeOff {
    if (this.#transaction === undefined && !command.transactional) return takeOff
    return this.#inTransaction(command, takeOff)
  }

  /** The same for a command of a pipeline, which was prepared before. */
  batched(takeOff: TakeOff): void {
    if (this.#transaction !== undefined) this.#open()?.queued.push({ takeOff, refused: false })
  }

  /** What an emulated command gives, made of others. */
  async emulate(command: Command, servers: Servers): Promise<unknown> {
    if (this.#open() !== undefined) throw alone(command)
    return emulate(command.name, this.prefix, servers)
  }

  /** A message without prefixes; undefined when it tells of another namespace's key. */
  message(event: unknown): unknown {
    return message(event, this.prefix)
  }

  #open(): Transaction | undefined {
    if (this.#transaction?.connection !== this.#connection()) this.#transaction = undefined
    return this.#transaction
  }

  #inTransaction(command: Command, takeOff: TakeOff): TakeOff {
    const open = this.#open()
    switch (command.name) {
      case 'MULTI':
        this.#transaction ??= { connection: this.#connection(), queued: [] }
        return takeOff
      case 'EXEC':
        this.#transaction = undefined
        return open === undefined ? takeOff : (reply) => executed(reply, open)
      case 'DISCARD':
      case 'RESET':
        this.#transaction = undefined
        return takeOff
    }
    if (open === undefined) return takeOff
    const entry = { takeOff, refused: false }
    open.queued.push(entry)
    return (reply) => {
      if (isQueued(reply)) return reply
      entry.refused = true
      return takeOff(reply)
    }
  }
}

export function alone(command: Command): CommandNotAllowed {
  return new CommandNotAllowed(
    `${command.name} inside a namespace is several commands, so it cannot be part of a pipeline or a ` +
      'transaction; call it by itself',
  )
}

function isQueued(reply: unknown): boolean {
  return isWord(reply) && reply.length === 6 && asLatin1(reply) === 'QUEUED'
}

function executed(reply: unknown, transaction: Transaction): unknown {
  const queued = transaction.queued.filter((one) => !one.refused)
  if (!Array.isArray(reply) || reply.length !== queued.length) return reply
  return reply.map((one, at) => queued[at].takeOff(one))
}
