/** What a function throws; undefined when it does not. */
export function failure(run: () => unknown): unknown {
  try {
    run()
  } catch (thrown) {
    return thrown
  }
  return undefined
}
