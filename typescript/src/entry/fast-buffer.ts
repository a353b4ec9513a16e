/**
 * The methods of Buffer that convert text at a place without a look at an encoding's name. Node and Bun have them; their
 * types leave them out.
 */
export type FastBuffer = Buffer & {
  latin1Slice(from: number, to: number): string
  utf8Slice(from: number, to: number): string
  utf8Write(text: string, at: number): number
}

/** A Buffer over memory. */
export function fastBuffer(memory: ArrayBuffer): FastBuffer {
  return Buffer.from(memory) as FastBuffer
}
