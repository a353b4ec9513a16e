import { UnsupportedSerializer } from '../more-errors.ts'
import { readJson, writeJson } from './json.ts'
import { readMessagePack } from './messagepack/read.ts'
import { MessagePackWriter } from './messagepack/write.ts'
import { refused } from './path.ts'
import type { Types } from './registered.ts'
import { Scratch } from './scratch.ts'
import { readText } from './text.ts'
import { isBytes, LONE_SURROGATE } from './typemap.ts'
import { VALUE, weighJson } from './weight.ts'

/** How a value becomes the payload of an entry. */
export type SerializerName = 'messagepack' | 'json' | 'text' | 'bytes'

/** The ids in an entry's header. */
export const SERIALIZER_IDS: Record<SerializerName, number> = {
  bytes: 0,
  text: 1,
  json: 2,
  messagepack: 3,
}

const { bytes: BYTES, text: TEXT, json: JSON_ID, messagepack: MESSAGEPACK } = SERIALIZER_IDS

const NAMES = Object.keys(SERIALIZER_IDS) as SerializerName[]

/** The name of the serializer of an entry whose payload was read. */
export function serializerName(id: number): SerializerName {
  return NAMES.find((name) => SERIALIZER_IDS[name] === id) as SerializerName
}

/**
 * The value in a payload that weighs `maxValue` bytes at most; an `Unrevived` for one that holds values of registered
 * types.
 * @throws MalformedEntry, UnsupportedSerializer, ValueTooLarge
 */
export function readPayload(
  serializer: number,
  scratch: Scratch,
  from: number,
  to: number,
  maxValue: number,
): unknown {
  switch (serializer) {
    case MESSAGEPACK:
      return readMessagePack(scratch, from, to, maxValue)
    case TEXT:
      return readText(scratch, from, to)
    case BYTES:
      return scratch.bytes.slice(from, to)
    case JSON_ID:
      weighJson(scratch.bytes, from, to, maxValue)
      return readJson(readText(scratch, from, to))
    default:
      throw new UnsupportedSerializer(
        `the entry was written with serializer ${serializer}, which TypeScript does not read`,
      )
  }
}

/** Writes payloads: the last one is at the beginning of `bytes`. */
export interface PayloadWriter {
  readonly bytes: Uint8Array
  /** Whether a reader of the last value gets something else: an object for a Map, a number for a small bigint. */
  readonly converted: boolean
  /** What the last value weighs, in bytes ("Weight" in `spec/entry.md`). */
  readonly weight: number
  /**
   * Writes a value and returns the payload's length.
   * @throws UnsupportedValue
   */
  write(value: unknown): number
  /** Lets go of large buffers. */
  trim(): void
}

class TextWriter implements PayloadWriter {
  converted = false
  weight = VALUE
  readonly #output = new Scratch()

  get bytes(): Uint8Array {
    return this.#output.bytes
  }

  write(value: unknown): number {
    if (typeof value !== 'string')
      throw refused([], 'the serializer text takes strings only: use messagepack')
    if (!value.isWellFormed()) throw refused([], LONE_SURROGATE)
    return this.writeText(value)
  }

  protected writeText(text: string): number {
    this.#output.reserve(text.length * 3)
    return this.#output.buffer.utf8Write(text, 0)
  }

  trim(): void {
    this.#output.trim()
  }
}

class JsonWriter extends TextWriter {
  override write(value: unknown): number {
    const { text, converted, weight } = writeJson(value)
    this.converted = converted
    this.weight = weight
    return this.writeText(text)
  }
}

class BytesWriter implements PayloadWriter {
  bytes: Uint8Array = new Uint8Array(0)
  converted = false
  readonly weight = VALUE

  write(value: unknown): number {
    if (typeof value !== 'object' || value === null || !isBytes(value)) {
      throw refused([], 'the serializer bytes takes Uint8Arrays only: use messagepack')
    }
    this.converted = Object.getPrototypeOf(value) !== Uint8Array.prototype
    // Memory that other threads share may change while it is written.
    this.bytes = value.buffer instanceof ArrayBuffer ? value : value.slice()
    return value.length
  }

  trim(): void {
    this.bytes = new Uint8Array(0)
  }
}

const WRITERS: Record<SerializerName, new (types?: Types) => PayloadWriter> = {
  messagepack: MessagePackWriter,
  json: JsonWriter,
  text: TextWriter,
  bytes: BytesWriter,
}

/**
 * The writers of one serializer. Writing a value may run a caller's code (a getter, the `encode` of a registered type),
 * which may write another, so a writer is taken while it is in use.
 */
export class WriterPool {
  readonly #make: new (
    types?: Types,
  ) => PayloadWriter
  readonly #types: Types | undefined
  readonly #idle: PayloadWriter[] = []

  constructor(serializer: SerializerName, types?: Types) {
    this.#make = WRITERS[serializer]
    this.#types = types
  }

  take(): PayloadWriter {
    return this.#idle.pop() ?? new this.#make(this.#types)
  }

  give(writer: PayloadWriter): void {
    writer.trim()
    this.#idle.push(writer)
  }
}
