/** Exchanges of HTTP/1.1 over a bare socket, so that a test says every byte and sees every one. */
import { connect, type Socket } from 'node:net'

/** A response as it came. */
export interface Received {
  readonly status: number
  /** By name in lower case; repeated ones in their order. */
  readonly fields: Readonly<Record<string, readonly string[]>>
  /** As it came, without the chunks' sizes. */
  readonly body: Buffer
}

/** Opens a connection to a port of this machine. */
export function dial(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Sends a request's head and body on a connection of its own, and reads until the server ends it. */
export async function exchange(
  port: number,
  line: string,
  fields: readonly string[] = [],
  body = '',
): Promise<Received> {
  const host = fields.some((field) => /^host:/i.test(field)) ? [] : ['Host: test']
  const head = [`${line} HTTP/1.1`, ...host, 'Connection: close', ...fields, '', body]
  return parsed(await sendRaw(port, head.join('\r\n')))
}

/** Sends bytes, and gives what comes back until the server ends the connection. */
export async function sendRaw(port: number, text: string): Promise<Buffer> {
  const socket = await dial(port)
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.once('error', reject)
    socket.once('close', () => resolve(Buffer.concat(chunks)))
    socket.write(text, 'latin1')
  })
}

/** @throws Error for what is no response */
export function parsed(bytes: Buffer): Received {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) throw new Error(`no response: ${bytes.toString('latin1').slice(0, 200)}`)
  const [line, ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const fields: Record<string, string[]> = {}
  for (const field of lines) {
    const colon = field.indexOf(':')
    const name = field.slice(0, colon).toLowerCase()
    fields[name] = [...(fields[name] ?? []), field.slice(colon + 1).trim()]
  }
  const content = bytes.subarray(end + 4)
  const isChunked = fields['transfer-encoding']?.includes('chunked') && content.length > 0
  return {
    status: Number(line.split(' ')[1]),
    fields,
    body: isChunked ? unchunked(content) : content,
  }
}

function unchunked(content: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const end = content.indexOf('\r\n', at)
    const size = Number.parseInt(content.toString('latin1', at, end), 16)
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(content.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}
