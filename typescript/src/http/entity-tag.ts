/** Entity tags and the conditions that compare them (RFC 9110 8.8.3, 13.1). */
import { createHash } from 'node:crypto'

/**
 * The strong entity tag of bytes: the first 128 bits of their SHA-256, as base64url in quotes. So all processes and
 * languages that serve the same bytes agree.
 */
export function entityTag(bytes: Uint8Array): string {
  const digest = createHash('sha256').update(bytes).digest()
  return `"${digest.subarray(0, 16).toString('base64url')}"`
}

/** Whether text is a tag, in its quotes. */
export function isEntityTag(text: string): boolean {
  return /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/.test(text)
}

/** The same tag as a weak one. */
export function weak(tag: string): string {
  return tag.startsWith('W/') ? tag : `W/${tag}`
}

// An element may be empty (RFC 9110 5.6.1), and a tag may have a comma in it.
const ELEMENT = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y

/**
 * Whether the field If-None-Match names the tag, by weak comparison: `W/` makes no difference. `*` names every one. Text
 * that is no list of tags names none, so that the answer is the whole one.
 */
export function noneMatchNames(field: string, tag: string): boolean {
  return (
    field === tag || field.trim() === '*' || anyTag(field, (one) => opaque(one) === opaque(tag))
  )
}

/** Whether the field If-Match names the tag, by strong comparison: a weak tag is equal to none. `*` names every one. */
export function matchNames(field: string, tag: string | undefined): boolean {
  if (field.trim() === '*') return true
  return tag !== undefined && !tag.startsWith('W/') && anyTag(field, (one) => one === tag)
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}

function anyTag(field: string, test: (tag: string) => boolean): boolean {
  let found = false
  ELEMENT.lastIndex = 0
  while (ELEMENT.lastIndex < field.length) {
    const element = ELEMENT.exec(field)
    if (element === null) return false
    if (element[1] !== undefined) found ||= test(element[1])
  }
  return found
}
