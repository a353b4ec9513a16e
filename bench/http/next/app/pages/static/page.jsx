import { answer } from '../../../lib/answer.mjs'
import { reader } from '../../../lib/ioredis.mjs'

export const dynamic = 'force-static'

const read = await reader()

export default async function Page() {
  return <pre>{JSON.stringify(await answer(read))}</pre>
}
