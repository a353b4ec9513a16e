import { describe, expect, it } from 'vitest'
import { jsonOfFields } from '../../src/http/fields-json.ts'

class Later extends Date {
  override toJSON(): string {
    return 'later'
  }
}

class Named {
  readonly name = 'n'
  readonly at = new Date(5)
  get hidden(): number {
    return 1
  }
}

const own = Object.assign(new Date(7), { toISOString: () => 'mine' })
const now = 1_700_000_000_123

const FIELDS: Readonly<Record<string, object>> = {
  'the page’s fields': { start: now, end: now, endDate: new Date(now) },
  'the same time again': { endDate: new Date(now), also: new Date(now) },
  'another time': { endDate: new Date(now + 1), before: new Date(-1), far: new Date(8.64e15) },
  'no date': { text: 'é"\\', yes: true, none: null, nothing: undefined, list: [1, { a: 2 }] },
  'an invalid date': { endDate: new Date(Number.NaN), start: 1 },
  'dates below': { list: [new Date(now)], nested: { at: new Date(now) } },
  'a date with a JSON of its own': { at: new Later(now), also: own },
  'an object of a class': new Named(),
  'an object with toJSON': { at: new Date(now), toJSON: () => ({ made: 1 }) },
  'inherited fields': Object.create({ at: new Date(now) }, { own: { value: 1, enumerable: true } }),
  'a name that objects know': JSON.parse('{"__proto__":1,"constructor":2,"at":0}'),
  'no fields': {},
  'a list': [new Date(now)],
  'a date': new Date(now),
}

describe('jsonOfFields', () => {
  it.each(Object.entries(FIELDS))('of %s is that of JSON.stringify', (_, fields) => {
    // Twice, because times are kept.
    expect(jsonOfFields(fields)).toBe(JSON.stringify(fields))
    expect(jsonOfFields(fields)).toBe(JSON.stringify(fields))
  })

  it('has each time’s own text', () => {
    for (const at of [now, now + 1, now, Number.NaN, now])
      expect(jsonOfFields({ at: new Date(at) })).toBe(JSON.stringify({ at: new Date(at) }))
  })

  it('refuses what JSON.stringify refuses', () => {
    expect(() => jsonOfFields({ big: 1n, at: new Date(now) })).toThrow(TypeError)
  })

  it('takes what is no object as JSON.stringify does', () => {
    for (const wrong of [null, undefined, 5, 'text'])
      expect(jsonOfFields(wrong as never)).toBe(JSON.stringify(wrong))
  })
})
