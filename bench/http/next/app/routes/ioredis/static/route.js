import { answer } from '../../../../lib/answer.mjs'
import { reader } from '../../../../lib/ioredis.mjs'

export const dynamic = 'force-static'

const read = await reader()

export const GET = async () => Response.json(await answer(read))
