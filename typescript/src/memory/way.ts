import type { Segment } from '../entry/path.ts'
import { type Code, ERROR, SET } from './stored.ts'

/** The objects of a value and how they hold each other: see `Graph`. */
export interface References {
  readonly edges: readonly unknown[]
  readonly edgeCount: number
  readonly contents: readonly number[]
  readonly nodes: readonly unknown[]
  readonly codeOf: (node: number) => Code
}

/** The path to an object by the first references that were found; -1 is what could not become one. */
export function wayTo(
  node: number,
  { edges, edgeCount, contents, nodes, codeOf }: References,
): Segment[] {
  const firstEdges = new Map<number, number>()
  for (let edge = edgeCount - 3; edge >= 0; edge -= 3) {
    firstEdges.set(edges[edge + 2] as number, edge)
  }
  const owners = new Map<number, number>()
  for (let at = 0; at < contents.length; at += 2) owners.set(contents[at + 1], contents[at])
  const way: Segment[] = []
  let edge = firstEdges.get(owners.get(node) ?? node)
  while (edge !== undefined) {
    let holder = edges[edge] as number
    let key = edges[edge + 1] as PropertyKey
    const owner = owners.get(holder)
    if (owner !== undefined) {
      key = keyInContent(codeOf(owner), nodes[holder] as unknown[], key as number)
      holder = owner
    }
    way.push(typeof key === 'symbol' ? key.toString() : key)
    edge = firstEdges.get(holder)
  }
  return way.reverse()
}

/** What a path calls a part of a Map, Set or error: a Map's entry by its key if that is primitive, else by its place. */
function keyInContent(code: Code, parts: readonly unknown[], at: number): Segment {
  if (code === SET) return at
  if (code === ERROR) return parts[at - (at % 3)] as string
  const key = parts[at - (at % 2)]
  const named = at % 2 === 1 && (typeof key !== 'object' || key === null)
  return named && typeof key !== 'function' ? String(key) : at >> 1
}
