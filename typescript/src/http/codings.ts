/** Content codings (RFC 9110 8.4.1) that this run time can make. */
import * as zlib from 'node:zlib'

/** A content coding: gzip (RFC 1952), Brotli (RFC 7932) or Zstandard (RFC 8878). */
export type Coding = 'gzip' | 'br' | 'zstd'

type Compressor = (
  bytes: Uint8Array,
  options: object,
  done: (error: Error | null, made: Uint8Array) => void,
) => void

const { constants } = zlib
// Absent before Node 22.15.
const zstd = (zlib as { zstdCompress?: Compressor }).zstdCompress

/** Quality 5 of Brotli and level 3 of Zstandard take a few milliseconds of a thread for a megabyte of JSON. */
const COMPRESSORS: ReadonlyMap<Coding, (bytes: Uint8Array) => Promise<Uint8Array>> = new Map([
  ...(zstd === undefined ? [] : [['zstd', (bytes: Uint8Array) => run(zstd, bytes, {})] as const]),
  [
    'br',
    (bytes) =>
      run(zlib.brotliCompress as Compressor, bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: 5,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      }),
  ],
  ['gzip', (bytes) => run(zlib.gzip as Compressor, bytes, { level: 6 })],
])

/**
 * The codings that this run time can make, best first: Zstandard costs least of those that make small bodies. Without
 * `zstd` before Node 22.15.
 */
export const CODINGS: readonly Coding[] = [...COMPRESSORS.keys()]

/** Compresses on a thread of the run time's pool. */
export function compress(bytes: Uint8Array, coding: Coding): Promise<Uint8Array> {
  return COMPRESSORS.get(coding)!(bytes)
}

function run(compressor: Compressor, bytes: Uint8Array, options: object): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    compressor(bytes, options, (error, made) => (error === null ? resolve(made) : reject(error)))
  })
}
