import { InvalidArgument } from './errors.ts'
import { type NativeDictionaries, native, typed } from './host/native.ts'

/**
 * The dictionaries, prepared by the native part for a compressor of this level.
 * @throws InvalidArgument
 */
export function dictionariesOf(
  dictionaries: readonly Uint8Array[],
  level: number,
): NativeDictionaries {
  const isList = Array.isArray(dictionaries)
  if (!isList || !dictionaries.every((one) => one instanceof Uint8Array)) {
    throw new InvalidArgument('dictionaries is a list of Uint8Array: trained zstd dictionaries')
  }
  try {
    return native().NativeDictionaries.of(dictionaries, level)
  } catch (failure) {
    throw typed(failure)
  }
}
