/**
 * The promise of what a function returns, or throws: as an async function, but a promise that it returns is handed on as
 * it is, where an async function makes another one, which is settled three turns later.
 */
export function promised<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    const done = work()
    return done instanceof Promise ? done : Promise.resolve(done)
  } catch (failure) {
    return Promise.reject(failure)
  }
}
