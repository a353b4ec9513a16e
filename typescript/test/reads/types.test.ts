import type { Cluster, Redis } from 'ioredis'
import type { createClient, createCluster } from 'redis'
import { expectTypeOf, it } from 'vitest'
import type { Representation } from '../../src/http/index.ts'
import type { CachedReads } from '../../src/reads/index.ts'

type NodeRedis = ReturnType<typeof createClient>
type NodeRedisCluster = ReturnType<typeof createCluster>

/** Some of what Bun's types say of its RedisClient. */
interface BunRedis {
  get(key: string | ArrayBufferView | Blob): Promise<string | null>
  getBuffer(key: string | ArrayBufferView | Blob): Promise<Uint8Array<ArrayBuffer> | null>
  xrange(key: string, start: string, end: string): Promise<unknown[]>
  xrange(key: string, start: string, end: string, how: 'COUNT', count: number): Promise<unknown[]>
  send(command: string, words: string[]): Promise<unknown>
  set(key: string, value: string): Promise<'OK'>
  onconnect: ((this: BunRedis) => void) | null
}

it("has the client's own types", () => {
  expectTypeOf<CachedReads<Redis>['xrange']>().toEqualTypeOf<Redis['xrange']>()
  expectTypeOf<CachedReads<Redis>['hgetallBuffer']>().toEqualTypeOf<Redis['hgetallBuffer']>()
  expectTypeOf<CachedReads<NodeRedis>['xRange']>().toEqualTypeOf<NodeRedis['xRange']>()
  expectTypeOf<CachedReads<NodeRedis>['zRangeWithScores']>().toEqualTypeOf<
    NodeRedis['zRangeWithScores']
  >()
  expectTypeOf<CachedReads<NodeRedis>['geoSearchWith']>().toEqualTypeOf<
    NodeRedis['geoSearchWith']
  >()
  expectTypeOf<CachedReads<NodeRedis>['lcsIdxWithMatchLen']>().toEqualTypeOf<
    NodeRedis['lcsIdxWithMatchLen']
  >()
  expectTypeOf<CachedReads<NodeRedis>>().toHaveProperty('geoRadiusByMemberRo')
  expectTypeOf<CachedReads<Cluster>['xrange']>().toEqualTypeOf<Cluster['xrange']>()
  expectTypeOf<CachedReads<NodeRedisCluster>['xRange']>().toEqualTypeOf<
    NodeRedisCluster['xRange']
  >()
  expectTypeOf<CachedReads<NodeRedis>['sendCommand']>().toEqualTypeOf<NodeRedis['sendCommand']>()
  expectTypeOf<CachedReads<NodeRedisCluster>>().not.toHaveProperty('sendCommand')
  expectTypeOf<CachedReads<Redis>>().not.toHaveProperty('sendCommand')
  expectTypeOf<CachedReads<NodeRedisCluster>>().not.toHaveProperty('set')
  expectTypeOf<CachedReads<Redis>>().not.toHaveProperty('set')
  expectTypeOf<CachedReads<BunRedis>['xrange']>().toEqualTypeOf<BunRedis['xrange']>()
  expectTypeOf<CachedReads<BunRedis>['getBuffer']>().toEqualTypeOf<BunRedis['getBuffer']>()
  expectTypeOf<CachedReads<BunRedis>['send']>().toEqualTypeOf<BunRedis['send']>()
  expectTypeOf<CachedReads<BunRedis>>().not.toHaveProperty('onconnect')
  expectTypeOf<CachedReads<BunRedis>>().not.toHaveProperty('set')
  expectTypeOf<
    CachedReads<NodeRedis>['json']['xRange']
  >().returns.resolves.toEqualTypeOf<Representation>()
})
