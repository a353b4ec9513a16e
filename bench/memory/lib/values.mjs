// The stored values: those of the page, and more where one alone would flatter.

/** 79 bytes of JSON; `number` makes it another value of the same size. */
export const small = (number = 123) => ({
  id: number,
  name: 'John Doe',
  email: 'john@example.com',
  created: 1763757115000,
})

const large = (data) => ({ id: 123, name: 'John Doe', email: 'john@example.com', data })

export const values = {
  small: () => small(),
  /** 2,664 bytes of JSON. As on the page, it is one object 100 times, so that a clone that notices copies one. */
  large: () => large(Array(100).fill({ foo: 'bar', baz: 'qux' })),
  /** The same JSON out of 100 objects. */
  distinct: () => large(Array.from({ length: 100 }, () => ({ foo: 'bar', baz: 'qux' }))),
}

/** The page's batch. */
export const items = Array.from({ length: 100 }, (_, id) => ({
  key: `key-${id}`,
  value: { id, data: `value-${id}` },
}))
