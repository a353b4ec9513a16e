import { constantBytes, HEADERS } from '../../../lib/constant.mjs'

export const dynamic = 'force-dynamic'

const bytes = await constantBytes()

export const GET = () => new Response(bytes, { headers: HEADERS })
