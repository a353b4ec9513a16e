/**
 * An iterator of what is asked for when the first of it is. An async generator would make several promises for each part of
 * it.
 */
export function oneByOne<T>(ask: () => Promise<Iterator<T>>): AsyncIterableIterator<T, void> {
  let parts: Iterator<T> | undefined
  let asking: Promise<Iterator<T>> | undefined
  let isOver = false
  const end = (): IteratorResult<T, void> => ({ value: undefined, done: true })
  const step = (all: Iterator<T>): IteratorResult<T, void> => (isOver ? end() : all.next())
  const begin = async (): Promise<IteratorResult<T, void>> => {
    try {
      asking ??= ask()
      parts = await asking
    } catch (failure) {
      const wasOver = isOver
      isOver = true
      // One of those who asked at the same time is told.
      if (wasOver) return end()
      throw failure
    }
    return step(parts)
  }
  return {
    next: () => {
      if (isOver) return Promise.resolve(end())
      return parts === undefined ? begin() : Promise.resolve(step(parts))
    },
    return: () => {
      isOver = true
      return Promise.resolve(end())
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
