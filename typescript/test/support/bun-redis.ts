/** Bun's own client, where there is one. */
import { onTestFinished } from 'vitest'

type Method = (...given: unknown[]) => Promise<unknown>
export type BunClient = Record<string, Method> & { close(): void }
export type BunClass = new (url?: string, options?: object) => BunClient

const bun = (globalThis as unknown as { Bun?: { RedisClient: BunClass } }).Bun

export const isBun: boolean = bun !== undefined

/** A client of one test. */
export function bunClient(url: string, options: object = {}): BunClient {
  if (bun === undefined) throw new Error('there is no Bun')
  const client = new bun.RedisClient(url, options)
  onTestFinished(() => client.close())
  return client
}
