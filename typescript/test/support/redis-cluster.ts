import { execFileSync } from 'node:child_process'
import { RedisServer, until } from './redis-server.ts'

/** A cluster of three primaries of the tests' own, on the loopback interface. */
export class RedisCluster {
  readonly #servers: RedisServer[]

  private constructor(servers: RedisServer[]) {
    this.#servers = servers
  }

  /** With so many replicas of each primary. */
  static async start(replicas = 0): Promise<RedisCluster> {
    const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000']
    const servers = await Promise.all(
      Array.from({ length: 3 + 3 * replicas }, () =>
        RedisServer.start('redis-server', ...options, '--repl-diskless-sync-delay', '0'),
      ),
    )
    const nodes = servers.map(({ port }) => `127.0.0.1:${port}`)
    const each = ['--cluster-replicas', String(replicas), '--cluster-yes']
    execFileSync('redis-cli', ['--cluster', 'create', ...nodes, ...each])
    // Each comes to know by itself that all slots have a primary.
    for (const server of servers) {
      await until(async () => !(await server.plain('GET', 'k')).startsWith('-CLUSTERDOWN'))
      await until(async () => !(await server.lines('INFO', 'replication')).some(isBehind))
    }
    return new RedisCluster(servers)
  }

  get ports(): number[] {
    return this.#servers.map(({ port }) => port)
  }

  /** The primary of a key. */
  async owner(key: string): Promise<RedisServer> {
    for (const server of this.#servers) {
      const says = await server.plain('GET', key).catch(() => '-gone')
      if (!says.startsWith('-')) return server
    }
    throw new Error(`nobody has ${key}`)
  }

  /** A primary that has not this key. */
  async another(key: string): Promise<RedisServer> {
    const owner = await this.owner(key)
    for (const server of this.#servers) {
      if (server !== owner && (await isPrimary(server))) return server
    }
    throw new Error('there is no other primary')
  }

  /** Begins to move a key's slot; the result moves the key, which is the only one in it, and ends the move. */
  async moving(key: string, to: RedisServer): Promise<() => Promise<void>> {
    const from = await this.owner(key)
    const slot = (await from.plain('CLUSTER', 'KEYSLOT', key)).slice(1)
    const [fromId] = await from.lines('CLUSTER', 'MYID')
    const [toId] = await to.lines('CLUSTER', 'MYID')
    await told(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
    await told(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
    return async () => {
      await told(from, 'MIGRATE', '127.0.0.1', String(to.port), key, '0', '5000')
      for (const one of [to, from]) await told(one, 'CLUSTER', 'SETSLOT', slot, 'NODE', toId)
    }
  }

  /** Kills the primary of a key, and waits until its replica has its place. */
  async failOver(key: string): Promise<void> {
    const owner = await this.owner(key)
    await owner.stop()
    this.#servers.splice(this.#servers.indexOf(owner), 1)
    // The others take some seconds to agree.
    await until(() => this.owner(key).catch(() => undefined), 5000)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()))
  }
}

async function told(server: RedisServer, ...words: string[]): Promise<void> {
  const says = await server.plain(...words)
  if (says.startsWith('-')) throw new Error(`${words.join(' ')}: ${says}`)
}

async function isPrimary(server: RedisServer): Promise<boolean> {
  return (await server.lines('INFO', 'replication')).some((line) => line.startsWith('role:master'))
}

function isBehind(line: string): boolean {
  return line.startsWith('master_link_status:down')
}
