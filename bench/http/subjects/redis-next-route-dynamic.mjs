// Next, a route that runs for each request, node-redis.

import { READS, ready } from '../lib/ready.mjs'
import { start } from '../next/start.mjs'

const path = '/routes/redis/dynamic'

ready({ ...(await start()), path, reads: READS.EACH })
