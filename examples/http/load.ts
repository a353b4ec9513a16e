/**
 * A short load: so many connections, each of which asks again when it has its answer, for some seconds. Prints the requests
 * and the seconds as JSON.
 *
 *     node load.ts URL SECONDS CONNECTIONS
 */
import { connect, type Socket } from 'node:net'

const [url, seconds, connections] = process.argv.slice(2)
const { hostname, port, pathname, host } = new URL(url)
const REQUEST = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`

let answered = 0
const sockets: Socket[] = []

/** Counts bytes instead of parsing them: what is measured is the server. */
function ask(): void {
  const socket = connect(Number(port), hostname)
  let head = ''
  let missing = 0
  sockets.push(socket)
  socket.on('connect', () => socket.write(REQUEST))
  socket.on('error', fail)
  socket.on('data', (bytes) => {
    if (missing > 0) missing -= bytes.length
    else {
      // The head may come in pieces.
      const before = head.length
      head += bytes.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      missing = end + 4 + lengthIn(head.slice(0, end)) - before - bytes.length
      head = ''
    }
    if (missing > 0) return
    answered++
    socket.write(REQUEST)
  })
}

/** The length of the content that such a head announces. */
function lengthIn(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (!head.startsWith('HTTP/1.1 200') || length === undefined) fail(new Error(head))
  return Number(length)
}

function fail(error: Error): never {
  console.error(`${url}: ${error.message}`)
  process.exit(1)
}

const started = performance.now()
for (let number = 0; number < Number(connections); number++) ask()
setTimeout(() => {
  console.log(JSON.stringify({ requests: answered, seconds: (performance.now() - started) / 1000 }))
  for (const socket of sockets) socket.destroy()
}, Number(seconds) * 1000)
