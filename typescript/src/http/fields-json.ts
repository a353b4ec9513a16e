/** The JSON of the fields around a value. It is made for each answer, and mostly has times in it. */

let time = Number.NaN
let text = ''

/**
 * What `JSON.stringify` makes of an object. Servers that answer a hundred thousand times a second write the same
 * millisecond again and again, and a Date's text costs more than all else in such fields: the last one is kept.
 */
export function jsonOfFields(fields: object): string | undefined {
  // What has a JSON of its own keeps it; so has a list.
  if (typeof (fields as { toJSON?: unknown })?.toJSON === 'function' || Array.isArray(fields))
    return JSON.stringify(fields)
  let copy: Record<string, unknown> | undefined
  for (const name in fields) {
    const value = (fields as Record<string, unknown>)[name]
    if (!isPlainDate(value) || !Object.hasOwn(fields, name)) continue
    copy ??= { ...fields }
    copy[name] = textOf(value)
  }
  return JSON.stringify(copy ?? fields)
}

/** A date as the language has it, whose JSON is its time in ISO 8601. */
function isPlainDate(value: unknown): value is Date {
  // Not of a class of its own, nor of another realm.
  if (!(value instanceof Date) || Object.getPrototypeOf(value) !== Date.prototype) return false
  const { toJSON, toISOString } = Date.prototype
  return value.toJSON === toJSON && value.toISOString === toISOString
}

function textOf(date: Date): string | null {
  const given = date.getTime()
  if (given === time) return text
  // The text of an invalid date is null, as in JSON.
  const made = date.toJSON() as string | null
  if (made === null) return null
  time = given
  text = made
  return made
}
