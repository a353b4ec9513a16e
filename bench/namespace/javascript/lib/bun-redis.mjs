// The page's operations as Bun's own client is called.

import { FIELDS, MEMBERS, PAIR, STRING } from './dataset.mjs'

export async function open({ port }) {
  const client = new Bun.RedisClient(`redis://127.0.0.1:${port}`)
  await client.connect()
  return client
}

export const operations = (client, data) => ({
  SET: () => client.set(data.key, STRING),
  GET: () => client.get(data.key),
  'MGET (10 keys)': () => client.mget(...data.many),
  LPUSH: () => client.lpush(data.pushed, ...PAIR),
  LRANGE: () => client.lrange(data.list, 0, -1),
  HSET: () => client.hset(data.hash, FIELDS),
  HGETALL: () => client.hgetall(data.hash),
  SADD: () => client.sadd(data.set, ...MEMBERS),
  SMEMBERS: () => client.smembers(data.set),
  KEYS: () => client.keys(data.pattern),
  ZRANGE: () => client.zrange(data.sorted, 0, -1),
  // It has no method for it: commands that are called one after the other are sent at once.
  'MULTI/EXEC': async () => {
    const sent = await Promise.all([
      client.send('MULTI', []),
      client.set(data.first, STRING),
      client.set(data.second, STRING),
      client.send('EXEC', []),
    ])
    return sent[3]
  },
})
