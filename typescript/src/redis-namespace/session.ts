import { InvalidArgument } from '../errors.ts'
import { CommandNotAllowed } from '../more-errors.ts'
import { type Command, CommandTable, type TableOptions } from './command-table.ts'
import { type Level, type Namespace, Namespaces } from './namespaces.ts'
import type { Prefix } from './prefix.ts'
import { message } from './replies.ts'
import { putOnRange } from './rules.ts'
import { emulate, narrow, type Servers } from './scope.ts'
import { Transaction } from './transaction.ts'
import type { Word } from './word.ts'

export interface NamespaceOptions extends TableOptions {
  /** A name, a list of nested ones, or a function that is called at every command. */
  readonly namespace: Namespace
  /** The separator behind each name. Default: `:`. */
  readonly separator?: string
}

/** What the views of one client share: its connection's transaction, in which all of them may send. */
export interface Shared {
  transaction?: Transaction | undefined
}

/** The options of a view of a view: those of the views around it, the outermost first. */
interface NestedOptions extends NamespaceOptions {
  readonly [OUTER]?: readonly Level[]
}

const OUTER: unique symbol = Symbol('the namespaces around')

/** Takes the prefixes off a reply. */
export type TakeOff = (reply: unknown) => unknown

/** Leaves a reply as it is. */
export const asItIs: TakeOff = (reply) => reply

const OPTIONS = new Set(['namespace', 'separator', 'allow', 'commands'])

/** @throws {InvalidArgument} for an unknown option */
export function checkOptions(options: NamespaceOptions): void {
  for (const name of Object.keys(options)) {
    if (!OPTIONS.has(name)) throw new InvalidArgument(`there is no option ${name}`)
  }
}

/** The options of a view of a view with these. */
export function within(outer: NamespaceOptions, inner: NamespaceOptions): NamespaceOptions {
  const nested: NestedOptions = {
    ...inner,
    allow: [...(outer.allow ?? []), ...(inner.allow ?? [])],
    commands: { ...outer.commands, ...inner.commands },
    [OUTER]: [...outerOf(outer), outer],
  }
  return nested
}

/** What gives the prefix of each moment; undefined where it is always the same. */
export function changingPrefix(options: NamespaceOptions): (() => string) | undefined {
  const namespaces = new Namespaces([...outerOf(options), options])
  return namespaces.isDynamic ? () => namespaces.prefix.text : undefined
}

function outerOf(options: NestedOptions): readonly Level[] {
  return options[OUTER] ?? []
}

/** Rewrites what one client sends and what it gets back. */
export class Session {
  readonly #namespaces: Namespaces
  readonly #table: CommandTable
  readonly #connection: () => unknown
  readonly #shared: Shared

  /**
   * @param connection what changes with each connection, where a transaction ends with it
   * @param shared what all views of a client share
   */
  constructor(
    options: NamespaceOptions,
    connection: () => unknown = () => undefined,
    shared: Shared = {},
  ) {
    checkOptions(options)
    const { allow, commands } = options
    this.#namespaces = new Namespaces([...outerOf(options), options])
    this.#table =
      allow === undefined && commands === undefined
        ? CommandTable.default
        : new CommandTable({ allow: allow ?? [], commands: commands ?? {} })
    this.#connection = connection
    this.#shared = shared
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
    if (this.#shared.transaction === undefined && !command.transactional) return takeOff
    return this.#inTransaction(command, takeOff)
  }

  /** The same for a command of a pipeline, which was prepared before. */
  batched(takeOff: TakeOff): void {
    if (this.#shared.transaction !== undefined) this.#open()?.queue(takeOff)
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
    if (this.#shared.transaction?.connection !== this.#connection())
      this.#shared.transaction = undefined
    return this.#shared.transaction
  }

  #inTransaction(command: Command, takeOff: TakeOff): TakeOff {
    const open = this.#open()
    switch (command.name) {
      case 'MULTI':
        this.#shared.transaction ??= new Transaction(this.#connection())
        return this.#shared.transaction.begun()
      case 'EXEC':
        this.#shared.transaction = undefined
        return open === undefined ? takeOff : (reply) => open.executed(reply)
      case 'DISCARD':
      case 'RESET':
        this.#shared.transaction = undefined
        return takeOff
      case 'WATCH':
        // Never queued: within a transaction it is refused, which does not abort it.
        return takeOff
    }
    if (open === undefined) return takeOff
    return open.queue(takeOff, () => {
      if (this.#shared.transaction === open) this.#shared.transaction = undefined
    })
  }
}

export function alone(command: Command): CommandNotAllowed {
  return new CommandNotAllowed(
    `${command.name} inside a namespace is several commands, so it cannot be part of a pipeline or a ` +
      'transaction; call it by itself',
  )
}
