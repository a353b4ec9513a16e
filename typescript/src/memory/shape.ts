/**
 * Copying plain objects of many shapes.
 *
 * `{ ...object }` is one allocation and one memory copy in V8, as long as its place in the source has seen at most four
 * shapes. In a cache every shape of a program would pass through one place; from the fifth on each copy takes six to
 * eight times as long. So there are 32 such places, and the names of an object's keys choose one of them.
 */

/** Places that copy; a power of two. */
const PLACES = 32

/** Which of `copyPlain`'s places is for an object, from 0 to 31. No value is read: no getter runs. */
export function placeOf(object: object): number {
  let hash = 0
  // Inherited keys are counted as well, if Object.prototype was given some: it makes no difference here.
  for (const key in object) hash = (Math.imul(hash, 31) + key.length) | 0
  return (hash ^ (hash >>> 5) ^ (hash >>> 10)) & (PLACES - 1)
}

/** A copy of a plain object's own enumerable properties, text and symbol keys. Getters are read. */
export function copyPlain(object: object, place: number): object {
  switch (place) {
    case 0:
      return { ...object }
    case 1:
      return { ...object }
    case 2:
      return { ...object }
    case 3:
      return { ...object }
    case 4:
      return { ...object }
    case 5:
      return { ...object }
    case 6:
      return { ...object }
    case 7:
      return { ...object }
    case 8:
      return { ...object }
    case 9:
      return { ...object }
    case 10:
      return { ...object }
    case 11:
      return { ...object }
    case 12:
      return { ...object }
    case 13:
      return { ...object }
    case 14:
      return { ...object }
    case 15:
      return { ...object }
    case 16:
      return { ...object }
    case 17:
      return { ...object }
    case 18:
      return { ...object }
    case 19:
      return { ...object }
    case 20:
      return { ...object }
    case 21:
      return { ...object }
    case 22:
      return { ...object }
    case 23:
      return { ...object }
    case 24:
      return { ...object }
    case 25:
      return { ...object }
    case 26:
      return { ...object }
    case 27:
      return { ...object }
    case 28:
      return { ...object }
    case 29:
      return { ...object }
    case 30:
      return { ...object }
    default:
      return { ...object }
  }
}

/** Longer arrays are checked before they are walked place by place. */
const LONG = 1 << 20
const PROBES = 64

/** Whether a long array consists mostly of holes: `array[4e9] = 1` must not take minutes. */
export function isSparse(array: readonly unknown[]): boolean {
  if (array.length <= LONG) return false
  let holes = 0
  for (let probe = 0; probe < PROBES; probe++) {
    if (!(Math.floor((array.length / PROBES) * probe) in array)) holes++
  }
  return holes > PROBES / 2
}

/** A copy of a sparse array; its holes stay holes. */
export function copySparse(array: readonly unknown[]): unknown[] {
  const copy: unknown[] = []
  copy.length = array.length
  for (const key of sparsePlaces(array)) copy[key] = array[key]
  return copy
}

/** The places of a sparse array that are not holes, in order. */
export function sparsePlaces(array: readonly unknown[]): number[] {
  const places: number[] = []
  for (const key of Object.keys(array)) {
    const place = Number(key)
    if (String(place) === key && place < array.length) places.push(place)
  }
  return places
}

const slice = Array.prototype.slice

/** A copy of an array that is not ours; its holes stay holes. */
export function copyArray(array: readonly unknown[]): unknown[] {
  // With a constructor of its own, `slice` would call that for the copy.
  if (array.constructor === Array) return slice.call(array)
  const copy: unknown[] = new Array(array.length)
  for (let place = 0; place < array.length; place++) {
    if (place in array) copy[place] = array[place]
  }
  return copy
}
