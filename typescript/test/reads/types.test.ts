import type { Cluster, Redis } from 'ioredis'
import type { createClient, createCluster } from 'redis'
import { expectTypeOf, it } from 'vitest'
import type { Representation } from '../../src/http/index.ts'
import type { CachedReads } from '../../src/reads/index.ts'

type NodeRedis = ReturnType<typeof createClient>
type NodeRedisCluster = ReturnType<typeof createCluster>

it("has the client's own types", () => {
  expectTypeOf<CachedReads<Redis>['xrange']>().toEqualTypeOf<Redis['xrange']>()
  expectTypeOf<CachedReads<Redis>['hgetallBuffer']>().toEqualTypeOf<Redis['hgetallBuffer']>()
  expectTypeOf<CachedReads<NodeRedis>['xRange']>().toEqualTypeOf<NodeRedis['xRange']>()
  expectTypeOf<CachedReads<NodeRedis>['zRangeWithScores']>().toEqualTypeOf<
    NodeRedis['zRangeWithScores']
  >()
  expectTypeOf<CachedReads<Cluster>['xrange']>().toEqualTypeOf<Cluster['xrange']>()
  expectTypeOf<CachedReads<NodeRedisCluster>['xRange']>().toEqualTypeOf<
    NodeRedisCluster['xRange']
  >()
  expectTypeOf<CachedReads<NodeRedisCluster>>().not.toHaveProperty('set')
  expectTypeOf<CachedReads<Redis>>().not.toHaveProperty('set')
  expectTypeOf<
    CachedReads<NodeRedis>['json']['xRange']
  >().returns.resolves.toEqualTypeOf<Representation>()
})
