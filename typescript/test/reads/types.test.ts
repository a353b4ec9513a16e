import type { Redis } from 'ioredis'
import type { createClient } from 'redis'
import { expectTypeOf, it } from 'vitest'
import type { Representation } from '../../src/http/index.ts'
import type { CachedReads } from '../../src/reads/index.ts'

type NodeRedis = ReturnType<typeof createClient>

it("has the client's own types", () => {
  expectTypeOf<CachedReads<Redis>['xrange']>().toEqualTypeOf<Redis['xrange']>()
  expectTypeOf<CachedReads<Redis>['hgetallBuffer']>().toEqualTypeOf<Redis['hgetallBuffer']>()
  expectTypeOf<CachedReads<NodeRedis>['xRange']>().toEqualTypeOf<NodeRedis['xRange']>()
  expectTypeOf<CachedReads<NodeRedis>['zRangeWithScores']>().toEqualTypeOf<
    NodeRedis['zRangeWithScores']
  >()
  expectTypeOf<CachedReads<Redis>>().not.toHaveProperty('set')
  expectTypeOf<
    CachedReads<NodeRedis>['json']['xRange']
  >().returns.resolves.toEqualTypeOf<Representation>()
})
