// What every subject writes and reads: the names and sizes of the published page, with a list that does not grow.

export const STRING = 'value'
export const PAIR = ['item1', 'item2']
export const ITEMS = Array.from({ length: 100 }, (_, n) => `item${String(n).padStart(3, '0')}`)
export const FIELDS = { field1: 'value1', field2: 'value2' }
export const MEMBERS = ['member1', 'member2']
export const SCORES = { member1: 1, member2: 2, member3: 3 }
export const TEN = Array.from({ length: 10 }, (_, n) => `value${n}`)

/** The names of keys. The prefix is empty for a client that writes it itself; a bare client's caller names them in full. */
export function dataset(prefix) {
  const ten = (name) => Array.from({ length: 10 }, (_, n) => `${prefix}${name}${n}`)
  return {
    key: `${prefix}key`,
    many: ten('mkey'),
    pushed: `${prefix}pushed`,
    list: `${prefix}list`,
    hash: `${prefix}hash`,
    set: `${prefix}set`,
    users: ten('user:'),
    pattern: `${prefix}user:*`,
    sorted: `${prefix}zset`,
    first: `${prefix}tx_key1`,
    second: `${prefix}tx_key2`,
  }
}

/** Every key that is there once each operation has run. */
export const keysOf = ({ pattern: _, ...data }) => Object.values(data).flat().sort()

/** What each operation returns, by the page's names. */
export const expected = (data) => ({
  SET: 'OK',
  GET: STRING,
  'MGET (10 keys)': TEN,
  LPUSH: 2,
  LRANGE: ITEMS,
  HSET: 0,
  HGETALL: FIELDS,
  SADD: 0,
  SMEMBERS: MEMBERS,
  KEYS: data.users,
  ZRANGE: Object.keys(SCORES),
  'MULTI/EXEC': ['OK', 'OK'],
})

/** Operations that return in no order. */
export const UNORDERED = ['SMEMBERS', 'KEYS']
