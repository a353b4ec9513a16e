// Next, a page that was rendered when it was built, ioredis.

import { READS, ready } from '../lib/ready.mjs'
import { start } from '../next/start.mjs'

const path = '/pages/static'

ready({ ...(await start()), path, reads: READS.NEVER })
