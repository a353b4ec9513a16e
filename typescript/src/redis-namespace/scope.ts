import type { Prefix } from './prefix.ts'
import { asLatin1, isWord, upper, type Word } from './word.ts'

/** Sends a command as it is; its reply has bytes where the client can give them. */
export type Send = (words: Word[]) => Promise<unknown>

/** Where commands go that are made of others. */
export interface Servers {
  /** One of each server that has keys of its own. */
  readonly all: () => Send[]
  readonly unlink: (keys: Word[]) => Promise<unknown>
}

/** Commands that are several inside a namespace. They are made of SCAN, so they take as long as the database is large. */
export const EMULATED: ReadonlySet<string> = new Set(['DBSIZE', 'FLUSHDB', 'RANDOMKEY'])
/** Keys that SCAN looks at in one step, and that are unlinked at once. */
const BATCH = 1000
/** How often a server is asked for any key before its keys are walked through. */
const TRIES = 16

/** Commands that `narrow` gives a pattern where they have none. */
export const NARROWED: ReadonlySet<string> = new Set([
  'SCAN',
  'PUBSUB|CHANNELS',
  'PUBSUB|SHARDCHANNELS',
])

/** Without a pattern SCAN would walk through all namespaces, and PUBSUB CHANNELS tell of all. */
export function narrow(name: string, words: Word[], prefix: Prefix): void {
  if (name === 'SCAN') {
    if (!hasMatch(words)) words.push('MATCH', prefix.pattern('*'))
  } else if (NARROWED.has(name) && words.length === 2) {
    words.push(prefix.pattern('*'))
  }
}

/** SCAN's options all have one argument. */
function hasMatch(words: Word[]): boolean {
  return words.some((word, at) => at >= 2 && at % 2 === 0 && upper(word) === 'MATCH')
}

/** What an emulated command gives. */
export function emulate(name: string, prefix: Prefix, servers: Servers): Promise<unknown> {
  if (name === 'DBSIZE') return dbsize(prefix, servers)
  return name === 'FLUSHDB' ? flushdb(prefix, servers) : randomkey(prefix, servers)
}

/** Keys of the namespace. SCAN may give a key twice, so they are remembered. */
async function dbsize(prefix: Prefix, servers: Servers): Promise<number> {
  const keys = new Set<string>()
  for await (const batch of batches(prefix, servers)) {
    for (const key of batch) keys.add(asLatin1(key))
  }
  return keys.size
}

/** Removes the keys of the namespace, but not all at one moment. */
async function flushdb(prefix: Prefix, servers: Servers): Promise<string> {
  for await (const keys of batches(prefix, servers)) await servers.unlink(keys)
  return 'OK'
}

/** A key, not all equally likely; null when the namespace is empty. */
async function randomkey(prefix: Prefix, servers: Servers): Promise<Word | null> {
  for (let tried = 0; tried < TRIES; tried++) {
    const key = await pick(servers.all())(['RANDOMKEY'])
    if (isWord(key) && prefix.has(key)) return prefix.strip(key)
  }
  for await (const keys of batches(prefix, servers)) return prefix.strip(pick(keys))
  return null
}

async function* batches(prefix: Prefix, servers: Servers): AsyncGenerator<Word[]> {
  for (const send of servers.all()) {
    let cursor: Word = '0'
    do {
      const scan = ['SCAN', cursor, 'MATCH', prefix.pattern('*'), 'COUNT', String(BATCH)]
      const [next, keys] = (await send(scan)) as [Word, Word[]]
      cursor = asLatin1(next)
      if (keys.length > 0) yield keys
    } while (cursor !== '0')
  }
}

function pick<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)]
}
