let nobody: Int32Array | undefined

/** Waits without the event loop: nothing else of this thread runs meanwhile. */
export function sleep(ms: number): void {
  nobody ??= new Int32Array(new SharedArrayBuffer(4))
  Atomics.wait(nobody, 0, 0, ms)
}
