import { onTestFinished } from 'vitest'

/** The codes of the warnings that the process is told to emit from here on, at once and not at the end of the turn. */
export function emitted(): unknown[] {
  const codes: unknown[] = []
  const { emitWarning } = process
  process.emitWarning = ((_text: string, _type: string, code: string) => codes.push(code)) as never
  onTestFinished(() => {
    process.emitWarning = emitWarning
  })
  return codes
}
