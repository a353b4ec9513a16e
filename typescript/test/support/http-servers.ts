/** The servers that an endpoint is mounted in: each framework on a free port of this machine. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
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
    app.all('/*', endpoint.fastify)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
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
