import type { Writable } from 'node:stream'
import type { Ioredis } from '../redis-namespace/ioredis.ts'

/** What a connection of ioredis is given meanwhile goes to the server in one piece: each write would wake it, and be answered, by itself. */
export function corked<T>(client: Ioredis, sends: () => T): T {
  // Absent while there is no connection.
  const { stream } = client as unknown as { stream?: Writable | null }
  stream?.cork()
  try {
    return sends()
  } finally {
    stream?.uncork()
  }
}
