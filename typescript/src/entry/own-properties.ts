/**
 * JavaScriptCore makes a text of each index to tell an array's properties, which takes longer than storing the array; V8
 * lists the values in a nanosecond each.
 */
const LOOKED_THROUGH =
  typeof (globalThis as { Bun?: unknown }).Bun === 'undefined' ? Number.POSITIVE_INFINITY : 16

/**
 * The name of an enumerable property that somebody put on an array, Map, Set or Date, such as `index` of what `match`
 * gives; undefined when there is none. In Bun arrays of more than 16 elements are not looked through.
 */
export function ownProperty(object: object): string | undefined {
  if (!Array.isArray(object)) return Object.keys(object)[0]
  const { length } = object
  if (length > LOOKED_THROUGH) return undefined
  // As many values as elements: there is nothing else, unless it makes up for holes, which read as undefined.
  if (Object.values(object).length === length && !object.includes(undefined)) return undefined
  return Object.keys(object).find((key) => !isPlace(key))
}

function isPlace(key: string): boolean {
  const place = Number(key)
  return String(place) === key && place >= 0 && Number.isInteger(place) && place < 2 ** 32 - 1
}

/** What to say of such an object. */
export function wouldLose(name: string): string {
  return `it has a property of its own (${name}), which would be lost: store a plain object, or a copy without it`
}
