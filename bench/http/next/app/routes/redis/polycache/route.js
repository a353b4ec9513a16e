import { endpoint } from 'polycache/http'
import { answer, reader } from '../../../../lib/reads.mjs'

export const dynamic = 'force-dynamic'

const read = await reader('redis')

export const GET = endpoint(() => answer(read)).fetch
