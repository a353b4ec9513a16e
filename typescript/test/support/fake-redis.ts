/** A server of a test's own, which answers what the test says. */
import { type AddressInfo, createServer } from 'node:net'
import { onTestFinished } from 'vitest'

/** What is answered to a command, as RESP3 has it; undefined closes the connection. */
export type Answer = (words: string[]) => string | undefined | Promise<string | undefined>

const HELLO = '%1\r\n$5\r\nproto\r\n:3\r\n'

/**
 * @param arrives is called when a command comes, answered or not
 * @returns its port
 */
export async function fakeRedis(
  answer: Answer,
  arrives: (words: string[]) => void = () => {},
): Promise<number> {
  const server = createServer((socket) => {
    let before: Promise<unknown> = Promise.resolve()
    socket.on('error', () => {})
    socket.on('data', (data) => {
      for (const command of data.toString('latin1').split(/(?=^\*\d+\r\n)/m)) {
        const words = wordsOf(command)
        if (words[0] !== 'HELLO') arrives(words)
        before = before.then(async () => {
          const said = words[0] === 'HELLO' ? HELLO : await answer(words)
          if (said === undefined) socket.destroySoon()
          else socket.write(said, 'latin1')
        })
      }
    })
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Each word stands behind its length. */
function wordsOf(command: string): string[] {
  return command.split('\r\n').filter((_, at) => at > 0 && at % 2 === 0)
}

/** What a client has of a reply, as RESP. */
export function resp(value: unknown): string {
  if (value === null) return '_\r\n'
  if (typeof value === 'number') return `:${value}\r\n`
  if (Array.isArray(value)) return `*${value.length}\r\n${value.map(resp).join('')}`
  const bytes = Buffer.from(String(value))
  return `$${bytes.length}\r\n${bytes.toString('latin1')}\r\n`
}
