// The page's operations as ioredis is called, and how its socket is taken out.

import { Redis } from 'ioredis'
import { FIELDS, MEMBERS, PAIR, STRING } from './dataset.mjs'

export const operations = (client, data) => ({
  SET: () => client.set(data.key, STRING),
  GET: () => client.get(data.key),
  'MGET (10 keys)': () => client.mget(data.many),
  LPUSH: () => client.lpush(data.pushed, ...PAIR),
  LRANGE: () => client.lrange(data.list, 0, -1),
  HSET: () => client.hset(data.hash, FIELDS),
  HGETALL: () => client.hgetall(data.hash),
  SADD: () => client.sadd(data.set, ...MEMBERS),
  SMEMBERS: () => client.smembers(data.set),
  KEYS: () => client.keys(data.pattern),
  ZRANGE: () => client.zrange(data.sorted, 0, -1),
  'MULTI/EXEC': async () => {
    const replies = await client.multi().set(data.first, STRING).set(data.second, STRING).exec()
    return replies.map(([error, reply]) => {
      if (error) throw error
      return reply
    })
  },
})

/** Its commands are made, and answered with what the server said once; nothing is encoded, written or parsed. */
class CannedRedis extends Redis {
  #canned

  constructor({ canned, ...options }) {
    super(options)
    this.#canned = canned
  }

  sendCommand(command, stream) {
    const canned = this.#canned
    if (canned.plays) {
      command.resolve(canned.next())
      return command.promise
    }
    const { resolve } = command
    command.resolve = (reply) => {
      canned.keep(reply)
      resolve(reply)
    }
    return super.sendCommand(command, stream)
  }
}

export const open = ({ port, canned, ...options }) =>
  canned ? new CannedRedis({ port, canned, ...options }) : new Redis({ port, ...options })

/** Without a socket all but the transaction, which ioredis writes to its socket past its own sendCommand. */
export const operationsOf = (client, data) => {
  const { 'MULTI/EXEC': transaction, ...others } = operations(client, data)
  return client instanceof CannedRedis ? others : { ...others, 'MULTI/EXEC': transaction }
}
