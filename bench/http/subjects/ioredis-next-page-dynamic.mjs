// Next, a page that is rendered for each request, ioredis.

import { READS, ready } from '../lib/ready.mjs'
import { start } from '../next/start.mjs'

const path = '/pages/dynamic'

ready({ ...(await start()), path, reads: READS.EACH })
