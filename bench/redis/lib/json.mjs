// The encoding that every client does: values are text in Redis.

export const encode = JSON.stringify

/** A key that is not there is null. */
export const decode = (text) => (text == null ? null : JSON.parse(text))

/** Keys and encoded values in turn, as MSET takes them. */
export const flat = (items) => items.flatMap(({ key, value }) => [key, encode(value)])
