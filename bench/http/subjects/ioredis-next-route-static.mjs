// Next, a route that ran when it was built, ioredis.

import { READS, ready } from '../lib/ready.mjs'
import { start } from '../next/start.mjs'

const path = '/routes/ioredis/static'

ready({ ...(await start()), path, reads: READS.NEVER })
