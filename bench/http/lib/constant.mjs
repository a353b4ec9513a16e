// A constant answer in memory: the framework's limit.

import { answer } from './answer.mjs'
import { reader } from './ioredis.mjs'

/** The bytes of an answer of 41,714 bytes and its times. */
export const constantBytes = async () => Buffer.from(JSON.stringify(await answer(await reader())))

export const HEADERS = { 'content-type': 'application/json' }
