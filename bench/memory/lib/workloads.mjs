// The operations that are timed, the same for every subject. A synchronous cache is called synchronously, an
// asynchronous one is awaited.
//
// Each workload takes { subject, cache, keep } and the group's options, and returns `operations`, by name: `operation`
// is timed, after `prepare`. What is read is handed to `keep`, or compilers leave the reading out.

import { readFileSync } from 'node:fs'
import { NotOffered } from '../../serve/subject.mjs'
import { items, small, values } from './values.mjs'

// One key, read from a list: with a constant, compilers take the look-up out of the loop.
const KEY = 'test-key'
const KEYS = [KEY, KEY]

// Values of the workloads of many keys; a power of two, so that `&` finds the next.
const VALUES = Array.from({ length: 1024 }, (_, number) => small(100 + (number % 900)))
const LAST_VALUE = VALUES.length - 1

// A cache may lose a key before it is full, to a conflict in its index; share of the keys that are looked at.
const MISSES = 0.01
const STEP = 97

/** Reading all of more keys before each round would take too long. */
const WARMED = 10_000

const missing = (what) => () => {
  throw new NotOffered(`it has no way to ${what}`)
}

/**
 * SET, GET, HAS and DELETE of one key. DELETE sets the key before, as on the page. As there, 100 others are in the
 * cache: deleting its only key is another thing (lru-cache then wipes all of its lists).
 */
const one = async ({ subject, cache, keep, value: name }) => {
  const value = values[name]()
  for (const { key, value } of items) await cache.set(key, value)
  let turn = 0
  const key = () => KEYS[turn++ & 1]
  const prepare = () => cache.set(KEY, value)
  const has = cache.has
    ? {
        prepare,
        operation: subject.awaited ? () => cache.has(key()) : () => keep(cache.has(key())),
      }
    : { operation: missing('ask for a key without its value') }
  const awaitedDelete = async () => {
    await cache.set(KEY, value)
    return cache.delete(KEY)
  }
  const simpleDelete = () => {
    cache.set(KEY, value)
    keep(cache.delete(KEY))
  }
  const some = {
    SET: { operation: () => cache.set(key(), value) },
    GET: {
      prepare,
      operation: subject.awaited ? () => cache.get(key()) : () => keep(cache.get(key())),
    },
  }
  const others = {
    HAS: has,
    DELETE: { operation: subject.awaited ? awaitedDelete : simpleDelete },
  }
  return { operations: name === 'small' ? { ...some, ...others } : some }
}

/** 100 keys: SET and GET of all of them, FLUSH after 100 SETs, KEYS. */
const batch = ({ subject: { awaited }, cache, keep }) => {
  const keys = items.map(({ key }) => key)
  const value = small()

  const setAll = async () => {
    for (const { key, value } of items) await cache.set(key, value)
  }
  const setAllSync = () => {
    for (const { key, value } of items) cache.set(key, value)
  }
  const getAll = async () => {
    const found = []
    for (const key of keys) found.push(await cache.get(key))
    return found
  }
  const getAllSync = () => {
    const found = []
    for (const key of keys) found.push(cache.get(key))
    keep(found)
  }
  const getMany = () => cache.mget(keys)
  const getManySync = () => keep(cache.mget(keys))
  const flush = async () => {
    for (const key of keys) await cache.set(key, value)
    return cache.clear()
  }
  const flushSync = () => {
    for (const key of keys) cache.set(key, value)
    cache.clear()
  }
  const listKeys = awaited ? () => cache.keys() : () => keep(cache.keys())

  const set = cache.mset ? () => cache.mset(items) : awaited ? setAll : setAllSync
  const get = cache.mget ? (awaited ? getMany : getManySync) : awaited ? getAll : getAllSync
  return {
    operations: {
      SET: { operation: set },
      GET: { prepare: set, operation: get },
      FLUSH: { operation: awaited ? flush : flushSync },
      KEYS: { prepare: set, operation: cache.keys ? listKeys : missing('list its keys') },
    },
  }
}

const namesOf = (entries) => Array.from({ length: entries }, (_, number) => `key-${number}`)

/** Text of a file of little-endian 32-bit numbers. */
const numbersOf = (file) => {
  const bytes = readFileSync(file)
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

/** GET and SET of many keys in the order that the file says. The keys are there. */
const sequence = async ({ subject, cache, keep, entries, keys: file }) => {
  const names = namesOf(entries)
  for (let number = 0; number < entries; number++) {
    const done = cache.set(names[number], small(number))
    if (subject.awaited) await done
  }
  const order = Array.from(numbersOf(file), (number) => names[number])
  const last = order.length - 1
  if ((order.length & last) !== 0) throw new Error(`${order.length} keys: not a power of two`)
  let turn = 0
  let written = 0
  const get = () => cache.get(order[turn++ & last])
  // The rounds of SET leave nothing in a tier that only reads fill.
  const warm = async () => {
    for (const name of names) await cache.get(name)
  }
  return {
    operations: {
      GET: {
        prepare: entries > WARMED ? undefined : warm,
        operation: subject.awaited ? get : () => keep(get()),
      },
      SET: {
        operation: () => cache.set(order[turn++ & last], VALUES[written++ & LAST_VALUE]),
      },
    },
    prove: async () => {
      let asked = 0
      let missed = 0
      for (let number = 0; number < entries; number += STEP) {
        const found = await cache.get(names[number])
        asked++
        if (found == null) missed++
        else if (found.id !== number) throw new Error(`${names[number]} has another key's value`)
      }
      if (missed > MISSES * asked) throw new Error(`${missed} of ${asked} keys are gone`)
    },
  }
}

/** SET of one key after the other, so many that each one is gone before it comes again: every SET evicts. */
const churn = async ({ cache, entries }) => {
  const names = namesOf(entries)
  const last = names.length - 1
  if ((names.length & last) !== 0) throw new Error(`${names.length} keys: not a power of two`)
  let turn = 0
  let full = false
  const prepare = async () => {
    if (full) return
    for (const name of names) await cache.set(name, VALUES[turn++ & LAST_VALUE])
    full = true
    // Not of which: some policies keep the first ones, because later ones were not asked for.
    let kept = 0
    for (const name of names) if ((await cache.get(name)) != null) kept++
    if (kept > names.length / 2) throw new Error('it is full and evicted nothing')
    if ((await cache.get(names[last])) == null) throw new Error('it does not keep the latest key')
  }
  const operation = () => cache.set(names[turn++ & last], VALUES[turn & LAST_VALUE])
  return { operations: { SET: { prepare, operation } } }
}

export const workloads = { one, batch, sequence, churn }
