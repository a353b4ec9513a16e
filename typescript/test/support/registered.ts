/** Classes of a program, and how they are registered. */
import { Decimal, type RegisteredType, registered } from '../../src/index.ts'

export class User {
  readonly name: string
  readonly tags: string[]
  readonly #secret: number

  constructor(name: string, tags: string[] = [], secret = 0) {
    this.name = name
    this.tags = tags
    this.#secret = secret
  }

  get secret(): number {
    return this.#secret
  }
}

export class Admin extends User {}

export class Order {
  readonly customer: User
  readonly items: unknown[]

  constructor(customer: User, items: unknown[]) {
    this.customer = customer
    this.items = items
  }
}

export class Points extends Array<number> {}
export class Index extends Map<string, unknown> {}
export class Money extends Decimal {}

/** What is stored of a user. */
export interface Fields {
  name: string
  tags: string[]
  secret: number
}

export const user: RegisteredType<User, Fields> = registered(User, {
  encode: ({ name, tags, secret }) => ({ name, tags, secret }),
  decode: ({ name, tags, secret }) => new User(name, tags, secret),
})
export const types: Record<'user' | 'order' | 'points' | 'index' | 'money', RegisteredType> = {
  user,
  order: registered(Order, {
    encode: ({ customer, items }) => ({ customer, items }),
    decode: ({ customer, items }) => new Order(customer, items),
  }),
  points: {
    class: Points,
    encode: (points: Points) => [...points],
    decode: (list: number[]) => Points.from(list),
  },
  index: {
    class: Index,
    encode: (index: Index) => Object.fromEntries(index),
    decode: (map: object) => new Index(Object.entries(map)),
  },
  money: {
    class: Money,
    encode: (money: Money) => money.text,
    decode: (text: string) => new Money(text),
  },
}
