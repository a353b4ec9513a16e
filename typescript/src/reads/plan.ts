import { InvalidArgument } from '../errors.ts'
import { CommandTable, type TableOptions } from '../redis-namespace/command-table.ts'
import type { Prefix } from '../redis-namespace/prefix.ts'
import { isWord, upper, type Word } from '../redis-namespace/word.ts'
import said from './reads.json' with { type: 'json' }
import { UncacheableRead } from './refusal.ts'

const READS: ReadonlySet<string> = new Set(said.reads)
const HASHES: ReadonlySet<string> = new Set(said.hashes)
const DOCUMENTS: ReadonlySet<string> = new Set(said.documents)
const REFUSED: ReadonlyMap<string, string> = new Map(Object.entries(said.refused))
const TABLE = new CommandTable({
  commands: said.modules as unknown as NonNullable<TableOptions['commands']>,
})
/** Keys that one read may name: see `crates/remote/src/reads/kept.rs`. */
export const MOST_KEYS = 1024

/** What is to be known of a command before its reply is kept. */
export interface Plan {
  readonly keys: readonly Word[]
  /** Whether it may show fields of a hash, which may expire by themselves. */
  readonly showsFields: boolean
  /** Whether its reply is the text of a JSON document. */
  readonly isDocument: boolean
}

/** Whether commands of this name, in upper case, may be cached; `XINFO|STREAM` is one of a container. */
export function isRead(name: string): boolean {
  return READS.has(name)
}

/** Further forms of commands in node-redis, as `lcsIdx` and `LCS_IDX`. */
const FORMS =
  /^(LCS)_?(?:LEN|IDX(?:_?WITHMATCHLEN)?)$|^(LPOS)_?COUNT$|^(ZRANK)_?WITHSCORE$|^(GEOSEARCH|GEORADIUS(?:BYMEMBER)?_?RO)_?WITH$/

/** What a method of a client sends: `zRangeWithScores` and `zrangeBuffer` send ZRANGE. */
export function commandOf(method: string): string {
  const name = method.replace(/(Buffer|WithScores|WithLegacy|_WITHSCORES)$/, '').toUpperCase()
  return name
    .replace(FORMS, '$1$2$3$4')
    .replace(/(EVAL|EVALSHA|BITFIELD|SORT|GEORADIUS|GEORADIUSBYMEMBER|FCALL)_?RO$/, '$1_RO')
}

/** Methods that send any command, whose name they are given: ioredis' and Bun's. */
function isGeneral(method: string): boolean {
  return /^(call(Buffer)?|send)$/.test(method)
}

/** The command that a method sends which is given its name, in upper case; undefined for any other method. */
export function nameGiven(method: string, given: readonly unknown[]): string | undefined {
  if (method === 'sendCommand') return upper(wordsGiven(given)[0])
  return isGeneral(method) ? upper(String(given[0])) : undefined
}

/** @throws InvalidArgument for what is no list of words, and for options: calls are told apart by their words */
function wordsGiven([words, ...rest]: readonly unknown[]): readonly Word[] {
  // Not `every`, which passes over holes.
  const isList = Array.isArray(words) && words.length > 0 && Array.from(words).every(isWord)
  if (!isList || rest.some((one) => one !== undefined)) {
    throw new InvalidArgument(
      'cached reads take sendCommand with a list of texts and bytes, and no options: those go to withCommandOptions',
    )
  }
  return words
}

/** Whether a method of this name may send a read. */
export function isReadMethod(method: string): boolean {
  return isGeneral(method) || isRead(commandOf(method))
}

/**
 * What a command reads.
 * @throws UncacheableRead
 */
export function planOf(words: readonly Word[]): Plan {
  const name = upper(words[0])
  if (!READS.has(name)) throw refusal(name, words[1])
  if (name === 'XREAD' && words.some((word) => upper(word) === 'BLOCK')) {
    throw new UncacheableRead('XREAD with BLOCK waits for what comes: leave BLOCK out')
  }
  const found = new KeysFound()
  TABLE.find(words[0], words[1]).rewrite([...words], found as unknown as Prefix)
  const { keys } = found
  if (found.looksElsewhere) {
    throw new UncacheableRead(`${name} with BY or GET reads keys that it does not name`)
  }
  if (keys.length === 0) throw new UncacheableRead(`this ${name} names no key`)
  return { keys, showsFields: HASHES.has(name), isDocument: DOCUMENTS.has(name) }
}

/** Why commands of this name cannot be cached. */
export function refusal(name: string, next?: Word): UncacheableRead {
  const why =
    REFUSED.get(name) ?? (next === undefined ? undefined : REFUSED.get(`${name}|${upper(next)}`))
  return new UncacheableRead(
    `${name} cannot be cached: ${why ?? 'it is not known to be a read whose reply its keys alone decide'}`,
  )
}

/** Takes the place of a prefix, and notes what it would be put on. */
class KeysFound {
  readonly keys: Word[] = []
  looksElsewhere = false

  key(word: Word): Word {
    this.keys.push(word)
    return word
  }

  by(word: Word): Word {
    this.looksElsewhere = true
    return word
  }

  get(word: Word): Word {
    if (String(word) !== '#') this.looksElsewhere = true
    return word
  }
}
