/** Where these programs listen: at PORT, which is 3000 where nothing is said. With 0 any free port is taken. */
export const PORT = Number(process.env.PORT ?? 3000)

/** Says where a program listens. Takes what node:http calls an address, or Bun's server. */
export function listening(at: unknown): void {
  console.log(`listening at http://127.0.0.1:${(at as { port: number }).port}/`)
}
