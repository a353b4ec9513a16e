// The page's operations as node-redis is called.

import { createClient } from 'redis'
import { FIELDS, MEMBERS, PAIR, STRING } from './dataset.mjs'

export const open = ({ port }) => createClient({ socket: { port } }).connect()

export const operations = (client, data) => ({
  SET: () => client.set(data.key, STRING),
  GET: () => client.get(data.key),
  'MGET (10 keys)': () => client.mGet(data.many),
  LPUSH: () => client.lPush(data.pushed, PAIR),
  LRANGE: () => client.lRange(data.list, 0, -1),
  HSET: () => client.hSet(data.hash, FIELDS),
  HGETALL: () => client.hGetAll(data.hash),
  SADD: () => client.sAdd(data.set, MEMBERS),
  SMEMBERS: () => client.sMembers(data.set),
  KEYS: () => client.keys(data.pattern),
  ZRANGE: () => client.zRange(data.sorted, 0, -1),
  'MULTI/EXEC': () => client.multi().set(data.first, STRING).set(data.second, STRING).exec(),
})
