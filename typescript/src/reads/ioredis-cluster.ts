import { InvalidArgument } from '../errors.ts'
import type { Ioredis, IoredisCommand } from '../redis-namespace/ioredis.ts'
import { corked } from './corked.ts'
import type { IoredisMaker, IoredisPrepared } from './ioredis-maker.ts'
import { ioredisShape } from './shapes.ts'
import type { Line, Way } from './ways.ts'

/** What is used of ioredis' Cluster besides. */
interface IoredisCluster extends Ioredis {
  readonly options: Ioredis['options'] & {
    readonly scaleReads?: unknown
    readonly redisOptions?: object
  }
  /** By slot: its primary first, as `host:port`. */
  readonly slots: readonly (readonly string[] | undefined)[]
}

type Node = Ioredis & { readonly status: string; readonly options: { host: string; port: number } }

/** Errors that the Cluster follows or tries again, as its `handleError` does. */
const FOLLOWED = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b|^Connection is closed\.$/

/** @throws InvalidArgument for a Cluster whose replicas may answer */
export function ioredisClusterWay(client: Ioredis, maker: IoredisMaker): Way {
  const cluster = client as IoredisCluster
  const { scaleReads = 'master', redisOptions = {} } = cluster.options
  if (scaleReads !== 'master') {
    throw new InvalidArgument(
      "cached takes a Cluster of ioredis whose scaleReads is 'master': replicas answer with what is older",
    )
  }
  return {
    shape: ioredisShape(redisOptions),
    client,
    // Of what goes by the Cluster nobody knows which connection it took; nothing of that is kept.
    epoch: () => '',
    prepare: (method, given) => maker.prepared(method, given, (command) => sent(cluster, command)),
    send: (words) => sent(cluster, maker.command(words)),
    together: (sends) => sends(),
    lineTo: (slot) => {
      const primary = cluster.slots[slot]?.[0]
      const nodes = cluster.nodes('master') as Node[]
      const node = nodes.find(({ options }) => `${options.host}:${options.port}` === primary)
      if (node?.status !== 'ready') return undefined
      return lineTo(node, maker)
    },
  }
}

/** The connection to a node, for one read. */
function lineTo(node: Node, maker: IoredisMaker): Line {
  let isElsewhere = false
  return {
    epoch: () => (isElsewhere ? undefined : node.connectionEpoch),
    send: (words) => sent(node, maker.command(words)),
    together: (sends) => corked(node, sends),
    read: async (prepared) => {
      const command = (prepared as IoredisPrepared).command as IoredisCommand
      try {
        return await sent(node, command)
      } catch (error) {
        if (!FOLLOWED.test((error as Error).message)) throw error
        isElsewhere = true
        // As ioredis' own pipelines send a command again.
        command.initPromise()
        return prepared.send()
      }
    },
  }
}

function sent(client: Ioredis, command: IoredisCommand): Promise<unknown> {
  client.sendCommand(command)
  return command.promise
}
