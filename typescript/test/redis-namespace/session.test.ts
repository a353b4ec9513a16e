/** What the vectors do not say: options, dynamic namespaces, bytes, transactions. */
import { expect, test } from 'vitest'
import {
  CommandNotAllowed,
  InvalidArgument,
  namespaced,
  Session,
  UnknownCommand,
  type Word,
} from '../../src/redis-namespace/index.ts'
import { failure } from '../support/failure.ts'

const rewritten = (session: Session, ...words: Word[]): Word[] => {
  session.rewrite(words)
  return words
}

test('bytes that are not text stay as they are', () => {
  const key = Buffer.from([0xff, 0x00, 0xfe])
  const session = new Session({ namespace: 'ü' })
  const [, put] = rewritten(session, 'GET', key)
  expect(put).toEqual(Buffer.concat([Buffer.from('ü:'), key]))
  expect(session.rewrite(['KEYS', '*'])([put])).toEqual([key])
  expect(rewritten(session, 'GET', new Uint8Array(key))[1]).toEqual(put)
})

test('a function is asked at each command, and nothing is sent without a name', () => {
  let tenant: string | undefined = 'a'
  const session = new Session({ namespace: ['app', () => tenant as string] })
  expect(rewritten(session, 'GET', 'k')).toEqual(['GET', 'app:a:k'])
  tenant = 'b'
  expect(rewritten(session, 'GET', 'k')).toEqual(['GET', 'app:b:k'])
  for (const none of [undefined, '', null, 5]) {
    tenant = none as string
    expect(failure(() => rewritten(session, 'GET', 'k'))).toBeInstanceOf(InvalidArgument)
  }
})

test.each([[undefined], [''], [[]], [['']], [5], [{}]])('%s is not a namespace', (namespace) => {
  const options = { namespace: namespace as unknown as string }
  expect(failure(() => new Session(options))).toBeInstanceOf(InvalidArgument)
})

test('other options and clients are refused', () => {
  const wrong = { namespace: 'a', colour: 'red' }
  expect(failure(() => new Session(wrong))).toBeInstanceOf(InvalidArgument)
  expect(failure(() => namespaced({}, { namespace: 'a' }))).toBeInstanceOf(InvalidArgument)
  const rule = { namespace: 'a', commands: { X: [['keey', 1, 1, 1]] } } as never
  expect(failure(() => new Session(rule))).toBeInstanceOf(InvalidArgument)
})

test('commands are allowed by name, containers as a whole', () => {
  const allow = ['flushall', 'CONFIG', 'CLIENT KILL', 'NOSUCH']
  const session = new Session({ namespace: 'shop', allow })
  for (const words of [
    ['FLUSHALL'],
    ['CONFIG', 'GET', 'x'],
    ['CLIENT', 'KILL', 'a'],
    ['nosuch', 'k'],
  ]) {
    expect(rewritten(session, ...words)).toEqual(words)
  }
  expect(failure(() => rewritten(session, 'CLIENT', 'LIST'))).toBeInstanceOf(CommandNotAllowed)
  expect(failure(() => rewritten(session, 'OTHER'))).toBeInstanceOf(UnknownCommand)
})

test('rules of further commands', () => {
  const session = new Session({
    namespace: 'shop',
    commands: { 'json.get': [['key', 1, 1, 1]], 'X|SUB': [['numkeys', 2, 3]] },
  })
  expect(rewritten(session, 'JSON.GET', 'k', '$')).toEqual(['JSON.GET', 'shop:k', '$'])
  expect(rewritten(session, 'x', 'sub', '1', 'k', 'v')).toEqual(['x', 'sub', '1', 'shop:k', 'v'])
})

test('letters that only look alike in upper case are not an option', () => {
  const session = new Session({ namespace: 'shop' })
  // The long s becomes an S.
  expect(rewritten(session, 'SORT', 'l', 'ſtore', 'd')).toEqual(['SORT', 'shop:l', 'ſtore', 'd'])
})

test('an error says how to go on', () => {
  const session = new Session({ namespace: 'shop' })
  expect(String(failure(() => rewritten(session, 'JSON.GET', 'k')))).toBe(
    'UnknownCommand: JSON.GET is not known, so it cannot be said which of its words are keys. ' +
      "If it has none, say allow: ['JSON.GET']; else say where they stand, for a first key " +
      "commands: { 'JSON.GET': [['key', 1, 1, 1]] }",
  )
  expect(String(failure(() => rewritten(session, 'FLUSHALL')))).toBe(
    'CommandNotAllowed: FLUSHALL touches the whole server, other namespaces included. ' +
      "If that is meant, say allow: ['FLUSHALL']",
  )
})

test('within EXEC each reply is treated as its command’s', () => {
  const session = new Session({ namespace: 'shop' })
  const send = (...words: Word[]) => {
    const command = session.find(words[0], words[1])
    return session.send(command, session.put(command, words))
  }
  expect(send('MULTI')('OK')).toBe('OK')
  expect(send('KEYS', '*')('QUEUED')).toBe('QUEUED')
  expect(send('GET', 'a')('QUEUED')).toBe('QUEUED')
  const failed = new Error('ERR')
  expect(send('LMPOP', '1', 'a', 'LEFT')(Buffer.from('QUEUED'))).toEqual(Buffer.from('QUEUED'))
  expect(send('EXEC')([['shop:a'], 'shop:v', failed])).toEqual([['a'], 'shop:v', failed])
  expect(send('KEYS', '*')(['shop:a'])).toEqual(['a'])
  send('MULTI')
  send('KEYS', '*')('QUEUED')
  expect(send('EXEC')(null)).toBeNull()
  send('MULTI')
  send('DISCARD')
  expect(send('EXEC')(['shop:a'])).toEqual(['shop:a'])
})

test('a transaction ends with its connection', async () => {
  let connection = 1
  const session = new Session({ namespace: 'shop' }, () => connection)
  const multi = session.find('MULTI', undefined)
  session.send(multi, (reply) => reply)
  const dbsize = session.find('DBSIZE', undefined)
  const servers = { all: () => [async () => ['0', []]], unlink: async () => 0 }
  await expect(session.emulate(dbsize, servers)).rejects.toThrow(CommandNotAllowed)
  connection = 2
  expect(await session.emulate(dbsize, servers)).toBe(0)
})
