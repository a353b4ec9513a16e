/** One cache that TypeScript, Python, Ruby and Rust processes of a machine share, without a server. */

export type { CacheEntry, CheckReport } from './any-namespace.ts'
export type { AtomicOperations } from './atomic.ts'
export { Cache, type Entries } from './cache.ts'
export type { Duration } from './duration.ts'
export type { EncryptionKey } from './encryption.ts'
export { Decimal } from './entry/decimal.ts'
export type { SerializerName } from './entry/serializer.ts'
export { Uuid } from './entry/uuid.ts'
export * from './errors.ts'
export type { Loader } from './flight.ts'
export type { SyncLoader } from './flight-sync.ts'
export type { Key } from './key.ts'
export type { Keys } from './keys.ts'
export type { Lease } from './lease.ts'
export * from './memory/index.ts'
export * from './more-errors.ts'
export type {
  CacheOptions,
  ExpiryOptions,
  GetOrSetOptions,
  IncrementOptions,
  SetOptions,
  UpdateOptions,
} from './options.ts'
export type { ServerTls } from './remote/bun.ts'
export type { RemoteClient, RemoteServer } from './remote/settings.ts'
export type { MachineStats, ProcessStats, RemoteStats, Stats, Usage } from './stats.ts'
export { DELETE, LEAVE, type Updated } from './update.ts'
