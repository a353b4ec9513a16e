import { InvalidArgument } from '../errors.ts'
import { CommandNotAllowed, UnknownCommand } from '../more-errors.ts'
import table from './commands.json' with { type: 'json' }
import type { Prefix } from './prefix.ts'
import { type ReplyKind, replies } from './replies.ts'
import { compile, isFirstKey, type Range, type Rewrite, type Rule, rangeOf } from './rules.ts'
import { EMULATED, NARROWED } from './scope.ts'
import { SUBSCRIBING, type Subscribing } from './subscriptions.ts'
import { upper, type Word } from './word.ts'

/** What a command does in a namespace (spec/commands.md, "A command"). */
export type CommandKind = 'rewrite' | 'pass' | 'scope' | 'server'

/** A command or subcommand. */
export class Command {
  readonly name: string
  readonly kind: CommandKind
  /** Whether its first word is a key and nothing else is to do, as in most commands. */
  readonly firstKey: boolean
  /** Whether it has a way of its own of staying inside the namespace, made of other commands. */
  readonly emulated: boolean
  /** Whether there are prefixes in its reply. */
  readonly replies: boolean
  /** Whether it begins or ends a transaction. */
  readonly transactional: boolean
  /** What it begins or ends subscriptions to, if it does. */
  readonly subscribing: Subscribing | undefined
  /** What gets a prefix, when it stands in a row and nothing else is to do. */
  readonly range: Range | undefined
  readonly #rewrites: readonly Rewrite[]
  readonly #reply: ReplyKind | undefined

  constructor(name: string, kind: CommandKind, rules: readonly Rule[], reply?: ReplyKind) {
    this.name = name
    this.kind = kind
    this.firstKey = reply === undefined && rules.length === 1 && isFirstKey(rules[0])
    this.emulated = kind === 'scope' && EMULATED.has(name)
    this.replies = reply !== undefined
    this.transactional = ['MULTI', 'EXEC', 'DISCARD', 'RESET'].includes(name)
    this.subscribing = SUBSCRIBING.get(name)
    this.range = rules.length === 1 && !NARROWED.has(name) ? rangeOf(rules[0]) : undefined
    this.#rewrites = rules.map(compile)
    this.#reply = reply
  }

  /** Rewrites the words in place. */
  rewrite(words: Word[], prefix: Prefix): void {
    for (const rewrite of this.#rewrites) rewrite(words, prefix)
  }

  /** The reply without prefixes. */
  reply(reply: unknown, prefix: Prefix): unknown {
    return this.#reply === undefined ? reply : replies[this.#reply](reply, prefix)
  }
}

interface Said {
  do: CommandKind
  at?: Rule[]
  reply?: ReplyKind
}

export interface TableOptions {
  /**
   * Commands that pass as they are: ones that touch the whole server, or that are not known and have no keys. Default: none.
   */
  readonly allow?: readonly string[]
  /** Where further commands have their keys: `{ 'JSON.GET': [['key', 1, 1, 1]] }`. Default: none. */
  readonly commands?: Readonly<Record<string, readonly Rule[]>>
}

/** What is known of every command: commands.json, a copy of spec/commands.json, and what a user adds. */
export class CommandTable {
  static #default: CommandTable | undefined
  readonly #commands = new Map<string, Command>()
  // Commands of one word that may be sent, by their names as most clients write them: asked first.
  readonly #known = new Map<Word, Command>()
  readonly #containers = new Map<string, Map<string, Command>>()

  /** The table of spec/commands.json alone. */
  static get default(): CommandTable {
    CommandTable.#default ??= new CommandTable()
    return CommandTable.#default
  }

  constructor({ allow = [], commands = {} }: TableOptions = {}) {
    for (const [name, said] of Object.entries(table.commands as unknown as Record<string, Said>)) {
      this.#put(name, said.do, said.at, said.reply)
    }
    if (typeof commands !== 'object' || commands === null || Array.isArray(commands)) {
      throw new InvalidArgument('commands is an object with the rules of each command by its name')
    }
    for (const [name, rules] of Object.entries(commands)) {
      if (!Array.isArray(rules) || rules.some((rule: unknown) => !Array.isArray(rule))) {
        throw new InvalidArgument(
          `the rules of ${name} are a list of lists, not ${JSON.stringify(rules)}`,
        )
      }
      this.#put(named(name), 'rewrite', rules)
    }
    if (!Array.isArray(allow)) {
      throw new InvalidArgument(`allow is a list of names, not ${JSON.stringify(allow)}`)
    }
    for (const name of allow) this.#pass(named(name))
  }

  /**
   * The command of a name and the word that follows it.
   *
   * @throws {UnknownCommand} it is not in the table
   * @throws {CommandNotAllowed} it touches the whole server
   */
  find(name: Word, next: Word | undefined): Command {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    let command = this.#commands.get(upper(name))
    if (command === undefined || (next !== undefined && this.#containers.has(command.name))) {
      command = this.#subcommand(upper(name), next)
    }
    if (command.kind !== 'server') return command
    const said = command.name.replace('|', ' ')
    throw new CommandNotAllowed(
      `${said} touches the whole server, other namespaces included. ` +
        `If that is meant, say allow: ['${said}']`,
    )
  }

  #put(name: string, kind: CommandKind, rules: readonly Rule[] = [], reply?: ReplyKind): void {
    const command = new Command(name, kind, rules, reply)
    const [container, sub] = name.split('|', 2)
    if (sub === undefined) {
      this.#commands.set(name, command)
    } else {
      const subs = this.#containers.get(container) ?? new Map<string, Command>()
      this.#containers.set(container, subs.set(sub, command))
    }
    // Most clients write commands in one of the two.
    for (const written of [container, container.toLowerCase()]) {
      this.#known.delete(written)
      if (kind !== 'server' && !this.#containers.has(container)) this.#known.set(written, command)
    }
  }

  // A container stands for all of its subcommands that would be refused.
  #pass(name: string): void {
    const refused = [...(this.#containers.get(name) ?? [])].filter(
      ([, command]) => command.kind === 'server',
    )
    if (refused.length === 0) this.#put(name, 'pass')
    for (const [sub] of refused) this.#put(`${name}|${sub}`, 'pass')
  }

  #subcommand(container: string, next: Word | undefined): Command {
    const subs = this.#containers.get(container)
    const found = next === undefined ? undefined : subs?.get(upper(next))
    if (found !== undefined) return found
    const whole = subs && this.#commands.get(container)
    if (whole?.kind === 'pass') return whole
    throw unknown(container, subs === undefined || next === undefined ? [] : [String(next)])
  }
}

/** A name as the table has it. */
function named(name: unknown): string {
  if (typeof name === 'string' && name !== '') return name.toUpperCase().replaceAll(' ', '|')
  throw new InvalidArgument(`a command's name is text, not ${JSON.stringify(name)}`)
}

function unknown(container: string, sub: string[]): UnknownCommand {
  const name = [container, ...sub].join(' ')
  return new UnknownCommand(
    `${name} is not known, so it cannot be said which of its words are keys. If it has none, say ` +
      `allow: ['${name}']; else say where they stand, for a first key ` +
      `commands: { '${[container, ...sub].join('|')}': [['key', 1, 1, 1]] }`,
  )
}
