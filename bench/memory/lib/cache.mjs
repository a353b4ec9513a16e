// What every subject of this benchmark shares. A subject's file calls `serve` with
//   packages     npm packages whose versions are told; `versions` holds others
//   isolation    `clone`: a get returns a copy; `frozen`: all get one frozen copy; `none`: it is the same object
//   ttl          true where entries expire
//   bounded      true where it evicts when it is full
//   awaited      true where its methods return promises
//   notes        what else differs from its neighbours
//   open(options) a cache of at most `capacity` entries that live for `ttl` seconds; `directory` is an empty folder.
//                Its methods: set(key, value), get(key), has(key), delete(key), keys() -> an array, clear(), close().
//                Where it has better ones for 100 at once: mset([{ key, value }]), mget(keys). Without has or keys
//                that operation is a row that says so.

import { basename } from 'node:path'
import { do_not_optimize as keep, measure } from 'mitata'
import { timer } from '../../serve/mitata.mjs'
import { serve as answer, versionOf } from '../../serve/subject.mjs'
import { check } from './check.mjs'
import { workloads } from './workloads.mjs'

export const CLONE = 'clone'
export const NONE = 'none'
export const FROZEN = 'frozen'

const FOLDER = new URL('../', import.meta.url)

const notesOf = ({ isolation, ttl, bounded, awaited, notes = [] }) => [
  `isolation: ${isolation}`,
  ttl ? 'TTL' : 'no TTL',
  ...(bounded ? [] : ['unbounded']),
  ...(awaited ? ['async'] : []),
  ...notes,
]

/** The main function of a subject's file. Rows call it as the file is called. */
export const serve = (subject) =>
  answer(async ({ kind, ...options }) => {
    const cache = await subject.open(options)
    const { operations, prove } = await workloads[kind]({ ...options, subject, cache, keep })
    const time = timer(measure)
    const run = ({ prepare, operation }) => {
      return async (seconds) => {
        await prepare?.()
        return time(operation, seconds)
      }
    }
    return {
      name: basename(process.argv[1], '.mjs'),
      versions: {
        ...subject.versions,
        ...Object.fromEntries(subject.packages.map((name) => [name, versionOf(name, FOLDER)])),
      },
      notes: notesOf(subject),
      operations: Object.fromEntries(
        Object.entries(operations).map(([name, operation]) => [name, run(operation)]),
      ),
      check: async () => {
        await check(subject, options)
        await prove?.()
      },
      close: () => cache.close?.(),
    }
  })
