import type { Representation } from '../http/representation.ts'
import type { ReadStats } from './stats.ts'

/** Commands that may be cached, as `spec/reads.json` lists them. */
type ReadName =
  | 'BITCOUNT'
  | 'BITFIELD_RO'
  | 'BITPOS'
  | 'DUMP'
  | 'EVALSHA_RO'
  | 'EVAL_RO'
  | 'EXISTS'
  | 'GEODIST'
  | 'GEOHASH'
  | 'GEOPOS'
  | 'GEORADIUSBYMEMBER_RO'
  | 'GEORADIUS_RO'
  | 'GEOSEARCH'
  | 'GET'
  | 'GETBIT'
  | 'GETRANGE'
  | 'HEXISTS'
  | 'HGET'
  | 'HGETALL'
  | 'HKEYS'
  | 'HLEN'
  | 'HMGET'
  | 'HSTRLEN'
  | 'HVALS'
  | 'LCS'
  | 'LINDEX'
  | 'LLEN'
  | 'LPOS'
  | 'LRANGE'
  | 'MGET'
  | 'PFCOUNT'
  | 'SCARD'
  | 'SDIFF'
  | 'SINTER'
  | 'SINTERCARD'
  | 'SISMEMBER'
  | 'SMEMBERS'
  | 'SMISMEMBER'
  | 'SORT_RO'
  | 'STRLEN'
  | 'SUBSTR'
  | 'SUNION'
  | 'TYPE'
  | 'XLEN'
  | 'XRANGE'
  | 'XREAD'
  | 'XREVRANGE'
  | 'ZCARD'
  | 'ZCOUNT'
  | 'ZDIFF'
  | 'ZINTER'
  | 'ZINTERCARD'
  | 'ZLEXCOUNT'
  | 'ZMSCORE'
  | 'ZRANGE'
  | 'ZRANGEBYLEX'
  | 'ZRANGEBYSCORE'
  | 'ZRANK'
  | 'ZREVRANGE'
  | 'ZREVRANGEBYLEX'
  | 'ZREVRANGEBYSCORE'
  | 'ZREVRANK'
  | 'ZSCORE'
  | 'ZUNION'

/** As clients write those with an underscore, and their further forms. */
type Written =
  | ReadName
  | `${ReadName}BUFFER`
  | `${ReadName}WITHSCORES`
  | 'EVALRO'
  | 'EVALSHARO'
  | 'SORTRO'
  | 'GEORADIUSRO'
  | 'GEORADIUSBYMEMBERRO'
  | 'GEORADIUSROWITH'
  | 'GEORADIUSBYMEMBERROWITH'
  | 'GEOSEARCHWITH'
  | 'LCSLEN'
  | 'LCSIDX'
  | 'LCSIDXWITHMATCHLEN'
  | 'LPOSCOUNT'
  | 'ZRANKWITHSCORE'
  | 'CALL'
  | 'CALLBUFFER'
  | 'SEND'

/** The name of a method that reads. Some clients' types have all names besides (an index signature), which are none. */
type ReadMethod<K> = K extends string
  ? string extends K
    ? never
    : Uppercase<K> extends Written
      ? K
      : never
  : never

/** node-redis' client alone has a `sendCommand` that takes words, and no more. */
type SendsWords<C, K> = K extends 'sendCommand'
  ? C extends {
      readonly xRange: unknown
      readonly withCommandOptions: unknown
      readonly socketEpoch: number
    }
    ? K
    : never
  : never

type Methods<C> = { [K in keyof C as ReadMethod<K> | SendsWords<C, K>]: C[K] }

/** The client's methods that read, of the client's own types; `json` has the same, which give a reply's JSON. */
export type CachedReads<C> = Methods<C> & {
  /** The same methods; each gives the JSON of the reply as bytes, encoded once for each change. */
  readonly json: {
    readonly [K in keyof Methods<C>]: (...given: readonly unknown[]) => Promise<Representation>
  }
  /** What these reads did. */
  stats(): ReadStats
  /** Has reads of these keys read anew on this host: for what the program itself has just written. */
  forget(...keys: string[]): void
  /** Ends them, and the cache that was opened for them. */
  close(): Promise<void>
}
