import { InvalidArgument } from '../errors.ts'
import type { Prefix } from './prefix.ts'
import { asLatin1, upper, type Word } from './word.ts'

/** Where keys, patterns and channels stand among a command's words (spec/commands.md). */
export type Rule =
  | readonly [kind: Kind, first: number, last: number, step: number]
  | readonly ['numkeys', at: number, first: number]
  | readonly ['options', first: number, words: OptionWords]
  | readonly ['options-or-key', first: number, words: OptionWords, at: number]

/** What an option's word is followed by: a list with 0 for what stays as it is, or what all that follow are. */
export type OptionWords = Readonly<Record<string, readonly (Kind | 0)[] | 'keys' | 'streams'>>

export type Kind =
  | 'key'
  | 'pattern'
  | 'channel'
  | 'publish'
  | 'channel-pattern'
  | 'prefix'
  | 'by'
  | 'get'

/** Rewrites words in place. */
export type Rewrite = (words: Word[], prefix: Prefix) => void

type Put = (prefix: Prefix, word: Word) => Word

const PUTS: Readonly<Record<Kind, Put>> = {
  key: (prefix, word) => prefix.key(word),
  prefix: (prefix, word) => prefix.key(word),
  pattern: (prefix, word) => prefix.pattern(word),
  channel: (prefix, word) => prefix.channel(word),
  publish: (prefix, word) => prefix.publish(word),
  'channel-pattern': (prefix, word) => prefix.channelPattern(word),
  by: (prefix, word) => prefix.by(word),
  get: (prefix, word) => prefix.get(word),
}

/**
 * What a rule does.
 *
 * @throws {InvalidArgument} it is not a rule
 */
export function compile(rule: Rule): Rewrite {
  switch (rule[0]) {
    case 'numkeys':
      return numkeys(whole(rule, rule[1]), whole(rule, rule[2]))
    case 'options':
      return options(rule, whole(rule, rule[1]), rule[2])
    case 'options-or-key':
      return options(rule, whole(rule, rule[1]), rule[2], whole(rule, rule[3]))
    default: {
      const range = rangeOf(rule) as Range
      return (words, prefix) => putOnRange(words, prefix, range, 0)
    }
  }
}

/** Words in a row: from `first` to `last`, which counts from the end when it is below 0. */
export interface Range {
  readonly kind: Kind
  readonly first: number
  readonly last: number
  readonly step: number
}

/** The words in a row that the rule names, if it names these. */
export function rangeOf(rule: Rule): Range | undefined {
  switch (rule[0]) {
    case 'numkeys':
    case 'options':
    case 'options-or-key':
      return undefined
    default: {
      const [kind, first, last, step] = rule
      put(rule, kind)
      return {
        kind,
        first: whole(rule, first),
        last: whole(rule, last, Number.NEGATIVE_INFINITY),
        step: whole(rule, step),
      }
    }
  }
}

/** Puts a prefix on words in a row, among words that begin with the one at `from`. */
export function putOnRange(words: Word[], prefix: Prefix, range: Range, from: number): void {
  const { kind, last, step } = range
  const end = last < 0 ? words.length + last : Math.min(last - from, words.length - 1)
  if (kind === 'key') {
    // By far the most, and the call is known: engines put it in place.
    for (let index = range.first - from; index <= end; index += step) {
      words[index] = prefix.key(words[index])
    }
  } else {
    const put = PUTS[kind]
    for (let index = range.first - from; index <= end; index += step) {
      words[index] = put(prefix, words[index])
    }
  }
}

/** Whether the rule names the key in the first place and no other. */
export function isFirstKey([kind, first, last]: Rule): boolean {
  return kind === 'key' && first === 1 && last === 1
}

/** As many words from `first` as the number at `at` says. */
function numkeys(at: number, first: number): Rewrite {
  return (words, prefix) => {
    if (words.length <= at) return
    const end = Math.min(first + count(words[at]), words.length)
    for (let index = first; index < end; index++) words[index] = prefix.key(words[index])
  }
}

function count(word: Word): number {
  const text = asLatin1(word)
  if (/^\d+$/.test(text)) return Number(text)
  throw new InvalidArgument(
    `the number of keys is not a number from 0 on: ${JSON.stringify(String(word))}`,
  )
}

/** Options in any order, walked one by one; and a key at `otherwise` where none was followed by keys. */
function options(rule: Rule, first: number, words: OptionWords, otherwise?: number): Rewrite {
  if (typeof words !== 'object' || words === null || Array.isArray(words)) throw unknown(rule)
  const known = new Map(
    Object.entries(words).map(([word, what]) => [upper(word), followers(rule, what)]),
  )
  const longest = Math.max(...Object.keys(words).map((word) => word.length))

  function walk(words: Word[], prefix: Prefix): boolean {
    let index = first
    while (index < words.length) {
      const word = words[index++]
      const what = word.length <= longest ? known.get(upper(word)) : undefined
      if (what === undefined) continue
      if (typeof what === 'string') {
        const left = words.length - index
        // The first half are streams, the others are ids.
        const end = index + (what === 'streams' ? left >> 1 : left)
        for (; index < end; index++) words[index] = prefix.key(words[index])
        return true
      }
      for (const put of what) {
        if (put !== undefined && index < words.length) words[index] = put(prefix, words[index])
        index++
      }
    }
    return false
  }

  return (words, prefix) => {
    if (walk(words, prefix) || otherwise === undefined || otherwise >= words.length) return
    words[otherwise] = prefix.key(words[otherwise])
  }
}

function followers(rule: Rule, what: OptionWords[string]): (Put | undefined)[] | string {
  if (typeof what === 'string') {
    if (what === 'keys' || what === 'streams') return what
    throw unknown(rule)
  }
  if (!Array.isArray(what)) throw unknown(rule)
  return what.map((kind) => (kind === 0 ? undefined : put(rule, kind)))
}

function put(rule: Rule, kind: Kind): Put {
  if (Object.hasOwn(PUTS, kind)) return PUTS[kind]
  throw unknown(rule)
}

/** A number of a rule: 0 is the command's name, which is never rewritten, and no step. */
function whole(rule: Rule, value: number, from = 1): number {
  if (Number.isInteger(value) && value >= from) return value
  throw unknown(rule)
}

function unknown(rule: Rule): InvalidArgument {
  return new InvalidArgument(
    `not a rule of where keys stand: ${JSON.stringify(rule)}; for a first key it is ["key", 1, 1, 1]`,
  )
}
