/** The servers that an endpoint is mounted in: each framework on a free port of this machine. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Elysia } from 'elysia'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import type { Endpoint } from '../../src/http/index.ts'

/** A server that listens. */
export interface Listening {
  readonly port: number
  close(): Promise<void>
}

interface BunServer {
  readonly port: number
  stop(closeConnections: boolean): Promise<void>
}

const bun = (
  globalThis as {
    Bun?: { serve(options: { port: number; hostname: string; fetch: unknown }): BunServer }
  }
).Bun

type Fetch = (request: Request) => Response | Promise<Response>

async function listening(server: Server): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function served(fetch: Fetch): Promise<Listening> {
  const server = bun!.serve({ port: 0, hostname: '127.0.0.1', fetch })
  return { port: server.port, close: () => server.stop(true) }
}

/** The run time's own, which Hono's server for Node puts others in the place of. */
const OWN = ['Request', 'Response'].map((name) => [
  name,
  Object.getOwnPropertyDescriptor(globalThis, name)!,
]) as [string, PropertyDescriptor][]

/** Its Response keeps a reference to the bytes that it is given, and sends them later where a middleware has waited. */
async function servedByHonoOnNode(fetch: Fetch): Promise<Listening> {
  const { port, close } = await listening(createAdaptorServer({ fetch }) as Server)
  return {
    port,
    async close() {
      await close()
      for (const [name, property] of OWN) Object.defineProperty(globalThis, name, property)
    },
  }
}

/** What mounts an endpoint for every path and method. Those of the Web's Request need Bun to listen. */
export const SERVERS: Readonly<Record<string, (endpoint: Endpoint) => Promise<Listening>>> = {
  'node:http': (endpoint) => listening(createServer(endpoint.node)),
  Express: (endpoint) => {
    const app = express()
    app.use(endpoint.node)
    return listening(createServer(app))
  },
  Fastify: async (endpoint) => {
    const app = fastify()
    app.addHook('onSend', async (_, reply) => {
      reply.header('x-hook', 'ran')
    })
    // It makes the route for HEAD itself.
    app.get('/*', endpoint.fastify)
    app.post('/*', endpoint.fastify)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
  },
  'Fastify without hooks': async (endpoint) => {
    const app = fastify()
    app.addHook('onRequest', async (_, reply) => {
      reply.header('x-hook', 'ran')
    })
    app.get('/*', endpoint.fastifyRaw)
    app.post('/*', endpoint.fastifyRaw)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
  },
  'Hono on node:http': (endpoint) => {
    const app = new Hono()
    app.use(async (_, next) => {
      await next()
      await new Promise((resolve) => setImmediate(resolve))
    })
    app.all('*', endpoint.hono)
    return servedByHonoOnNode(app.fetch)
  },
  ...(bun !== undefined && {
    'Bun.serve': (endpoint: Endpoint) => served(endpoint.fetch),
    Hono: (endpoint: Endpoint) => {
      const app = new Hono()
      app.all('*', endpoint.hono)
      return served(app.fetch)
    },
    Elysia: (endpoint: Endpoint) => {
      const app = new Elysia().all('*', endpoint.elysia)
      return served(app.fetch)
    },
  }),
}
