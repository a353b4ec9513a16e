// Next, a route, our cached reads over node-redis.

import { READS, ready } from '../lib/ready.mjs'
import { start } from '../next/start.mjs'

const path = '/routes/redis/polycache'

ready({
  ...(await start()),
  path,
  reads: READS.CHANGE,
  notes: ['cached reads: encoded once for each change; at most one second behind'],
})
