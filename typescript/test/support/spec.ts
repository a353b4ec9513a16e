/** The files of spec/. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const SPEC = new URL('../../../spec/', import.meta.url)

/** Names of the JSON files of a folder, sorted. */
export function filesOf(folder: string): string[] {
  const names = readdirSync(new URL(`${folder}/`, SPEC))
  return names.filter((name) => name.endsWith('.json')).sort()
}

export function readSpec<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, SPEC), 'utf8')) as T
}

export function writeSpec(path: string, text: string): void {
  writeFileSync(new URL(path, SPEC), text)
}

export function specText(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, SPEC)), 'utf8')
}
