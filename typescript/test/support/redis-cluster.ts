import { execFileSync } from 'node:child_process'
import { RedisServer, until } from './redis-server.ts'

/** A cluster of three primaries of the tests' own, on the loopback interface. */
export class RedisCluster {
  readonly #servers: RedisServer[]

  private constructor(servers: RedisServer[]) {
    this.#servers = servers
  }

  static async start(): Promise<RedisCluster> {
    const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000']
    const servers = await Promise.all(
      [1, 2, 3].map(() => RedisServer.start('redis-server', ...options)),
    )
    const nodes = servers.map(({ port }) => `127.0.0.1:${port}`)
    execFileSync('redis-cli', ['--cluster', 'create', ...nodes, '--cluster-yes'])
    // Each comes to know by itself that all slots have a primary.
    for (const server of servers) {
      await until(async () => !(await server.plain('GET', 'k')).startsWith('-CLUSTERDOWN'))
    }
    return new RedisCluster(servers)
  }

  get ports(): number[] {
    return this.#servers.map(({ port }) => port)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()))
  }
}
