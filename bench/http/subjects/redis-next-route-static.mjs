// Next, a route that ran when it was built, node-redis.

import { READS, ready } from '../lib/ready.mjs'
import { start } from '../next/start.mjs'

const path = '/routes/redis/static'

ready({ ...(await start()), path, reads: READS.NEVER })
