import { InvalidArgument } from './errors.ts'

const UNITS: Record<string, number> = {
  '': 1,
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
}

/** Bytes of a size: a whole number of them, or text like `'64MiB'` or `'1GB'`. `name` is for the message. */
export function bytes(size: number | string, name: string): number {
  const parsed = typeof size === 'string' ? parse(size) : size
  if (Number.isSafeInteger(parsed) && parsed >= 0) return parsed
  throw new InvalidArgument(
    `${name} is ${typeof size} ${String(size)}: write whole bytes, or text with KiB, MiB, GiB, TiB, kB, MB, GB or TB, like '64MiB'`,
  )
}

function parse(text: string): number {
  const [, number, unit] = /^(\d+)([A-Za-z]*)$/.exec(text) ?? []
  return unit === undefined || !Object.hasOwn(UNITS, unit)
    ? Number.NaN
    : Number(number) * UNITS[unit]
}
