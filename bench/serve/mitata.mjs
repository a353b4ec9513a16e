// Times an operation with mitata, the harness that the page of ts-cache used. mitata lives in the node_modules of
// each benchmark that uses it, which hands it in.
//
// A round is some dozens of batches, and its figure is their median (mitata's p50): a mean would mostly say how often
// the system took the processor away. Collections of garbage that take a whole batch are thereby left out, too. The
// controller takes the median over the rounds.

// How many batches a round is cut into, about; mitata reads the clock once a batch.
const BATCHES = 64
const FEWEST_BATCHES = 5
const LARGEST_BATCH = 4096
// mitata unrolls its loop this often, so no batch is smaller.
const SMALLEST_BATCH = 4
// Nanoseconds that the look at how long an operation takes must last.
const LOOK = 200_000
const MANY_SAMPLES = 1e9

const now = globalThis.Bun ? Bun.nanoseconds : () => 1e6 * performance.now()

/** About how many ns the operation takes. */
const look = async (operation, awaited) => {
  for (let count = 1; ; count *= 4) {
    const start = now()
    if (awaited) for (let n = 0; n < count; n++) await operation()
    else for (let n = 0; n < count; n++) operation()
    const taken = now() - start
    if (taken >= LOOK) return taken / count
  }
}

/** How many operations lie between two looks at the clock: a power of two, or 1. */
export const batchSize = (nanoseconds, seconds) => {
  const fits = (1e9 * seconds) / BATCHES / nanoseconds
  if (fits < SMALLEST_BATCH) return 1
  return Math.min(LARGEST_BATCH, 2 ** Math.floor(Math.log2(fits)))
}

/**
 * A function that times an operation for about `seconds` and returns its ns. One that returns a promise is awaited,
 * any other is not. An operation must use what it reads (mitata's `do_not_optimize`), or compilers leave the reading out.
 */
export const timer = (measure) => {
  const known = new Map()
  return async (operation, seconds) => {
    if (!known.has(operation)) known.set(operation, known.size)
    const first = operation()
    const awaited = first instanceof Promise
    await first
    const batch = batchSize(await look(operation, awaited), seconds)
    const { p50 } = await measure(operation, {
      min_cpu_time: 1e9 * seconds,
      min_samples: FEWEST_BATCHES,
      batch_samples: batch,
      // Whether to batch was decided above, and not by how long the very first call took.
      warmup_threshold: Number.POSITIVE_INFINITY,
      batch_threshold: batch > 1 ? Number.POSITIVE_INFINITY : -1,
      // mitata compiles its loop from text. Different text gives each operation a loop of its own, which engines
      // optimize for that operation alone.
      max_samples: MANY_SAMPLES + known.get(operation),
      gc: false,
    })
    return p50
  }
}
