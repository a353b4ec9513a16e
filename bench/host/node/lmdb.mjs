// lmdb-js with noSync: text in and text out.

import { open } from 'lmdb'
import {
  GET,
  GET_ALL,
  PUT,
  PUT_100,
  PUT_ALL,
  SURVIVES_KILL,
  serve,
  versionOf,
} from './lib/session.mjs'

// Its own way to write: it commits what one turn of the event loop wrote, in another thread.
const PUT_OWN = 'put, its own batches'

serve(({ directory, limit }) => {
  const db = open({ path: directory, mapSize: 8 * limit, noSync: true, encoding: 'string' })

  const fill = (pairs) => {
    db.transactionSync(() => {
      for (const [key, value] of pairs) db.putSync(key, value)
    })
  }

  return {
    name: 'lmdb',
    bounded: false,
    durability: SURVIVES_KILL,
    versions: { 'lmdb (npm)': versionOf('lmdb') },
    operations: {
      [PUT]: (pairs) => {
        for (const [key, value] of pairs) db.putSync(key, value)
      },
      [PUT_100]: (pairs) => {
        for (let first = 0; first < pairs.length; first += 100)
          fill(pairs.slice(first, first + 100))
      },
      [PUT_ALL]: fill,
      [PUT_OWN]: async (pairs) => {
        let last
        for (const [key, value] of pairs) last = db.put(key, value)
        await last
      },
      [GET]: (keys) => {
        let misses = 0
        for (const key of keys) {
          db.resetReadTxn()
          if (db.get(key) === undefined) misses++
        }
        return misses
      },
      // Its usual way to read: one transaction for a whole turn of the event loop.
      [GET_ALL]: (keys) => {
        let misses = 0
        for (const key of keys) if (db.get(key) === undefined) misses++
        return misses
      },
    },
    fill,
    value: (key) => db.get(key),
    close: () => db.close(),
  }
})
