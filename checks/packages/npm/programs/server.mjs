/** An HTTP handler that caches; prints its port. */
import { createServer } from 'node:http'
import { Cache } from 'polycache'

const cache = new Cache({ path: process.argv[2], namespace: 'pages' })
let rendered = 0

const server = createServer(async (request, response) => {
  const page = await cache.getOrSet(request.url, async () => ({
    url: request.url,
    rendered: ++rendered,
  }))
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(page))
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
