// Next, a route that runs for each request, ioredis.

import { READS, ready } from '../lib/ready.mjs'
import { start } from '../next/start.mjs'

const path = '/routes/ioredis/dynamic'

ready({ ...(await start()), path, reads: READS.EACH })
