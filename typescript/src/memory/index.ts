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
export type { MemoryEntry } from './entry.ts'
export type { MemoryCacheEvents } from './events.ts'
export { type DumpedEntry, MemoryCache, type MemoryStats, type Pairs } from './memory-cache.ts'
export type {
  DisposeReason,
  Isolation,
  LoadPolicy,
  MemoryCacheOptions,
  MemoryGetOptions,
  MemoryHasOptions,
  MemoryLoader,
  MemoryLoaderContext,
  MemoryLoadOptions,
  MemoryOptions,
  MemorySetOptions,
  MemoryStatus,
  PolicyName,
  StaleOptions,
  Writing,
} from './options.ts'
