import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { createClient } from 'redis'
import { expect, it, onTestFinished } from 'vitest'
import { jsonOf } from '../../src/reads/json.ts'

interface Case {
  readonly name: string
  /** What the server sends, in hexadecimal. */
  readonly resp: string
  readonly json: string
  /** Of a command whose text is a JSON document. */
  readonly document?: boolean
}

const file = new URL('../../../spec/vectors/replies.json', import.meta.url)
const CASES: Case[] = JSON.parse(readFileSync(file, 'utf8'))

/** A server that answers GET with these bytes. */
async function serverOf(replies: Iterator<Buffer>): Promise<number> {
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      for (const command of data.toString('latin1').split(/(?=\*\d+\r\n)/)) {
        if (command.includes('HELLO')) socket.write('%1\r\n$5\r\nproto\r\n:3\r\n')
        else if (command.includes('GET')) socket.write(replies.next().value as Buffer)
        else socket.write('+OK\r\n')
      }
    })
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

it('gives the JSON that every language gives', async () => {
  const replies = CASES.map(({ resp }) => Buffer.from(resp, 'hex'))
  const port = await serverOf(replies.values())
  const client = await createClient({ socket: { port }, RESP: 3 }).connect()
  onTestFinished(() => client.destroy())
  for (const { name, json, document } of CASES) {
    expect(jsonOf(await client.sendCommand(['GET', 'k']), document).toString(), name).toBe(json)
  }
})
