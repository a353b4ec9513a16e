import { InvalidArgument } from './errors.ts'
import { type NativeEncryption, native, typed } from './host/native.ts'

/** A key of AES-256-GCM. */
export interface EncryptionKey {
  /** Identifies the key in every entry that it encrypts: a whole number, 0 to 4294967295. */
  readonly id: number
  /** 32 random bytes, from a secret store: `randomBytes(32)` of `node:crypto` makes some. */
  readonly key: Uint8Array
}

/**
 * The keys, for the native part. An error does not show what is wrong, because it may be a key.
 * @throws InvalidArgument
 */
export function encryptionOf(keys: readonly EncryptionKey[]): NativeEncryption {
  if (!Array.isArray(keys) || !keys.every(isKey)) {
    throw new InvalidArgument(
      'encryption is a list of { id: number, key: Uint8Array }: ids are 0 to 4294967295, keys 32 bytes',
    )
  }
  try {
    return native().NativeEncryption.of(keys)
  } catch (failure) {
    throw typed(failure)
  }
}

function isKey(given: unknown): given is EncryptionKey {
  if (typeof given !== 'object' || given === null) return false
  const { id, key, ...rest } = given as Partial<EncryptionKey>
  const isId = Number.isInteger(id) && (id as number) >= 0 && (id as number) < 2 ** 32
  return isId && key instanceof Uint8Array && Object.keys(rest).length === 0
}
