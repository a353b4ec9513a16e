import type { CommandOptions } from '../redis-namespace/node-redis.ts'

interface IoredisOptions {
  readonly protocol?: unknown
  readonly replyMapping?: unknown
  readonly stringNumbers?: unknown
}

/** What decides on the shape of ioredis' replies, in the options of a Redis. */
export function ioredisShape(options: object): string {
  const { protocol = 2, replyMapping = '', stringNumbers = false } = options as IoredisOptions
  return `ioredis ${String(protocol)}${String(replyMapping)} ${String(stringNumbers)}`
}

/** What decides on the shape of node-redis' replies. */
export function nodeRedisShape(
  RESP: number | undefined,
  options: CommandOptions | undefined,
): string {
  const mapping = options?.typeMapping as Record<string, { name?: string }> | undefined
  const types = Object.entries(mapping ?? {}).map(([type, maker]) => `${type}${maker?.name}`)
  return `node-redis ${RESP ?? ''} ${types.join()}`
}
