/** The shortest and the longest wait between two checks, in milliseconds. */
const SHORTEST = 0.1
const LONGEST = 20
/** What a timer holds. */
const LONGEST_TIMER = 2 ** 31 - 1

/** Milliseconds to wait after so many of them: an eighth, so that an end is noticed at most an eighth late. */
export function patience(elapsed: number): number {
  return Math.min(Math.max(elapsed / 8, SHORTEST), LONGEST)
}

/**
 * Waits on the event loop. Timers count whole milliseconds, so a shorter wait is a turn of the loop.
 * @throws the signal's reason when it is aborted.
 */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  const waited = new Promise<void>((resolve) => {
    // Browsers have none.
    if (ms < 1 && typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve, ms)
  })
  return orAbort(waited, signal)
}

/**
 * What a function makes of a value, or of what a promise brings; a value is not waited for. It is not called `then`: a
 * module with that is taken for a promise where it is imported.
 */
export function follow<T, R>(
  given: T | Promise<T>,
  use: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return given instanceof Promise ? given.then(use) : use(given)
}

/** Calls a function later, unless the answer is called before. It does not keep the process alive. */
export function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, Math.min(ms, LONGEST_TIMER))
  // A number in browsers.
  timer.unref?.()
  return () => clearTimeout(timer)
}

/** The result of a promise, unless the signal is aborted first: then its reason is thrown. */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  // A failure after an abort may have no listener.
  promise.catch(() => {})
  signal.throwIfAborted()
  let abort!: () => void
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
  })
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
