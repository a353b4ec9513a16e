/** A cache of this program's own objects, in memory. Needs nothing else of the package. */
export type { Duration } from '../duration.ts'
export { Named } from '../entry/named.ts'
export { type RegisteredType, type RegisteredTypes, registered } from '../entry/registered.ts'
export {
  EntryTooLarge,
  InvalidArgument,
  InvalidKey,
  NoSpace,
  PolycacheError,
  UnsupportedValue,
  WaitTimeout,
  WrongType,
} from '../errors.ts'
export type { LoaderContext } from '../flight.ts'
export type { ManyLoader, SyncManyLoader } from '../flight-many.ts'
export type { Memoized, MemoizeOptions } from '../memoize.ts'
export type { EntriesOf } from '../option-names.ts'
export type { MemoryEntry } from './entry.ts'
export type { MemoryCacheEvents, RemovalCause } from './events.ts'
export type {
  MemoryLoader,
  MemoryLoaderContext,
  MemoryLoadManyOptions,
  MemoryLoadOptions,
  MemorySyncLoader,
  MemorySyncLoadManyOptions,
  MemorySyncLoadOptions,
  Writing,
} from './load-options.ts'
export { type DumpedEntry, MemoryCache, type Pairs } from './memory-cache.ts'
export type {
  Isolation,
  LoadPolicy,
  MemoryCacheOptions,
  MemoryGetOptions,
  MemoryHasOptions,
  MemoryOptions,
  MemorySetOptions,
  MemoryStatus,
  PolicyName,
  StaleOptions,
} from './options.ts'
export type { MemoryStats } from './stats.ts'
