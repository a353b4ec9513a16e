/** Media types whose bytes are compressed already (`spec/http/compressed-types.json`). */

export const TYPES: ReadonlySet<string> = new Set([
  'application/epub+zip',
  'application/gzip',
  'application/java-archive',
  'application/vnd.oasis.opendocument.presentation',
  'application/vnd.oasis.opendocument.spreadsheet',
  'application/vnd.oasis.opendocument.text',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.rar',
  'application/x-7z-compressed',
  'application/x-bzip2',
  'application/x-gzip',
  'application/x-xz',
  'application/zip',
  'application/zstd',
  'font/woff',
  'font/woff2',
  'image/apng',
  'image/avif',
  'image/gif',
  'image/heic',
  'image/heif',
  'image/jpeg',
  'image/jxl',
  'image/png',
  'image/webp',
])
export const FAMILIES: ReadonlySet<string> = new Set(['audio', 'video'])

/** Whether a content coding would only cost time. */
export function isCompressed(contentType: string): boolean {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  return TYPES.has(type) || FAMILIES.has(type.slice(0, Math.max(0, type.indexOf('/'))))
}
