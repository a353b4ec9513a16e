import { answer } from '../../../../lib/answer.mjs'
import { reader } from '../../../../lib/node-redis.mjs'

export const dynamic = 'force-dynamic'

const read = await reader()

export const GET = async () => Response.json(await answer(read))
