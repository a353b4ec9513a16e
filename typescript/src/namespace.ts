import { InvalidArgument } from './errors.ts'

/** The parts of a namespace option: text is one part, a list is several. */
export function namespaceParts(namespace: string | readonly string[] | undefined): string[] {
  if (namespace === undefined) return []
  const parts = typeof namespace === 'string' ? [namespace] : namespace
  if (!Array.isArray(parts)) throw new InvalidArgument('namespace is text, or a list of texts')
  for (const part of parts) checkPart(part)
  return [...parts]
}

/** What every full key of a namespace begins with (`spec/keys.md`). */
export function namespacePrefix(parts: readonly string[]): Uint8Array {
  const escaped = parts.map((part) => part.replaceAll('%', '%25').replaceAll(':', '%3A'))
  return new TextEncoder().encode(`${escaped.join(':')}::`)
}

function checkPart(part: unknown): void {
  if (typeof part !== 'string') throw new InvalidArgument('a part of a namespace is text')
  if (part === '') throw new InvalidArgument('a namespace part is empty; leave it out')
  if (!part.isWellFormed()) {
    throw new InvalidArgument(
      'a namespace part holds half a surrogate pair, which has no UTF-8 form',
    )
  }
}
