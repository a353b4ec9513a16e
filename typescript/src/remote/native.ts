import type { CheckReport, Holdings } from '../any-namespace.ts'
import type { MachineStats, Usage } from '../stats.ts'
import type { Asked } from './answers.ts'

/** Where a server listens. */
export interface RemoteAddress {
  host?: string
  port?: number
  /** A socket in the file system. */
  path?: string
}

/** How connections are encrypted; all in PEM. */
export interface RemoteTls {
  ca?: Uint8Array
  cert?: Uint8Array
  key?: Uint8Array
  insecure: boolean
}

/** What a client was told, for `native/src/remote/settings.rs`. */
export interface RemoteSettings {
  /** The server, the first nodes of a Cluster, or the Sentinels. */
  addresses: RemoteAddress[]
  cluster: boolean
  sentinel?: { name: string; username?: string; password?: string; tls: boolean }
  username?: string
  password?: string
  database: number
  tls?: RemoteTls
}

/** How a cache with a remote tier is opened; times are milliseconds. */
export interface RemoteOptions {
  url?: string
  settings?: RemoteSettings
  timeout?: number
  maxStaleness?: number
  prefix?: string
  path?: string
  limit?: number
  mode?: number
  emptyAtBoot: boolean
  /** 0 for never. */
  flushEvery?: number
  leaseTimeout: number
  waitTimeout: number
  serializer: number
  level: number
  maxValue: number
  timeToIdle: number
  dictionaries?: readonly Uint8Array[]
  encryption?: readonly { id: number; key: Uint8Array }[]
  manualClock: boolean
}

/** A namespace of such a cache. */
export interface NativeRemote {
  readonly number: number
  /** Empty without a directory. */
  readonly path: string
  nested(part: string): NativeRemote
  setClock(now: number): void
  stats(): {
    hits: number
    misses: number
    writes: number
    deletes: number
    invalidatedLoads: number
    holdings: Holdings
  }
  machineStats(): MachineStats | null
  foundLater(): void
  countTaken(found: boolean): void
  addCounts(joined: number, misses: number, unstored: number, timeouts: number): void
  remoteStats(): NativeRemoteStats
}

/** As `RemoteStats`, but for what is absent. */
export interface NativeRemoteStats {
  nearHits: number
  remoteHits: number
  joinedHits: number
  roundTrips: number
  faults: number
  lastFault: string
  isOpen: boolean
  listens: boolean
  lag?: number | null
  refusesTracking: boolean
}

/** A load of one key. */
export interface NativeLoad {
  readonly __load: never
}

/** What an update found. */
export interface NativeFound {
  readonly __found: never
}

/** What `near` answers for a key without a copy. */
export const MISS = -1

/** A key: the number of the cache, and where the key is. */
export type At = [cache: number, bytes: Uint8Array, from: number, to: number]
/** A payload with what `measure` in `entry/weight.ts` says, and how long it lives. */
export type Written = [payload: Uint8Array, measured: number, ttl: number]
/** Several keys: see `pack.ts`. */
export type Packed = [cache: number, bytes: Uint8Array, length: number]

/** The callbacks of `native/src/remote`, which say what they do. */
export interface RemoteOperations {
  near(...at: [...At, out: Uint8Array, origin: BigUint64Array]): number
  keep(cache: number, slot: number, origin: BigUint64Array): void
  stands(cache: number, slot: number): boolean
  get(...at: At): Asked<ArrayBuffer | undefined>
  peek(...at: At): Asked<ArrayBuffer | undefined>
  entry(...at: At): Asked<ArrayBuffer | undefined>
  has(...at: At): Asked<boolean>
  ttl(...at: At): Asked<number | undefined>
  find(...at: At): Asked<[NativeFound, ArrayBuffer | undefined]>
  keys(...at: At): Asked<ArrayBuffer>
  set(...write: [...At, ...Written]): Asked<void>
  add(...write: [...At, ...Written]): Asked<boolean>
  replace(...write: [...At, ...Written]): Asked<boolean>
  compareAndSet(...write: [...At, ...Written, version: BigUint64Array]): Asked<boolean>
  setUpdated(...write: [...At, ...Written, found: NativeFound]): Asked<boolean>
  deleteUpdated(...at: [...At, found: NativeFound]): Asked<boolean>
  delete(...at: At): Asked<boolean>
  deletePrefix(...at: At): Asked<number>
  touch(...at: [...At, ttl: number]): Asked<boolean>
  increment(
    ...at: [...At, ttl: number, integers: BigUint64Array, subtracts: number]
  ): Asked<ArrayBuffer>
  clear(cache: number): Asked<void>
  flush(cache: number): Asked<void>
  check(cache: number): Asked<CheckReport>
  usage(cache: number, most: number): Asked<Usage[] | null>
  close(cache: number): Asked<void>
  getMany(...keys: Packed): Asked<ArrayBuffer | undefined>
  setMany(...entries: [...Packed, numbers: Float64Array]): Asked<void>
  deleteMany(...keys: Packed): Asked<number>
  loadBegin(cache: number): NativeLoad
  loadStep(...at: [...At, load: NativeLoad, waited: number]): Asked<ArrayBuffer | number>
  loadFill(...write: [...At, ...Written, load: NativeLoad]): Asked<boolean>
  loadEnd(...at: [...At, load: NativeLoad]): Asked<void>
  loadOpen(cache: number, load: NativeLoad, own: number): boolean
  lockStep(...at: [...At, wait: number, waited: number]): Asked<ArrayBuffer | number>
  unlock(...at: [...At, words: BigUint64Array]): Asked<void>
  locked(...at: At): Asked<boolean>
  readKnow(cache: number, reads: number): Asked<boolean>
  readIsKnown(reads: number): boolean
  readStands(reads: number, slot: number): boolean
  readKeep(reads: number, slot: number): void
  readNear(...read: [...At, out: Uint8Array]): number
  readBegin(...read: [...At, waited: number, out: Uint8Array]): NativeRead | number
  readEnd(
    ...read: [
      ...At,
      begun: NativeRead,
      answer: Uint8Array,
      reply: Uint8Array,
      length: number,
      expires: number,
    ]
  ): boolean
  readForget(...read: At): void
}

/** A cached read that is under way. */
export interface NativeRead {
  readonly __read: never
}

/** The cached reads of a cache; it lives as long as they. */
export interface NativeReads {
  readonly number: number
}
