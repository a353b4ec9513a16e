import type { Members } from './forward.ts'
import type { IoredisCommand } from './ioredis.ts'

/** ioredis' Pipeline: commands that are sent together, a transaction among them. */
export interface Pipeline extends Members {
  readonly _queue: IoredisCommand[]
  sendCommand(command: IoredisCommand): unknown
  exec(...given: Callback[]): Promise<unknown>
  addBatch(commands: unknown[]): Pipeline
}

type Callback = (error: unknown, replies?: unknown) => void

/**
 * Has a pipeline's commands prepared when they are added: a cluster asks for their keys before they
 * are sent. When one is refused none is sent, and `exec` fails.
 *
 * @param automatic whether ioredis fills it with commands that have nothing to do with each other
 */
export function adopt(
  pipeline: Pipeline,
  prepare: (command: IoredisCommand) => unknown,
  automatic: () => boolean,
): void {
  const { sendCommand, exec } = pipeline
  let refused: { error: unknown } | undefined
  // A transaction has its MULTI already.
  for (const command of pipeline._queue) prepare(command)

  pipeline.sendCommand = (command) => {
    try {
      prepare(command)
    } catch (error) {
      if (!automatic()) {
        refused ??= { error }
        return pipeline
      }
      // The other commands' replies are found by their place, so something has to stand here.
      command.name = 'ping'
      command.args = []
      command.transformReply = () => {
        throw error
      }
    }
    return sendCommand.call(pipeline, command)
  }

  // Within a transaction what is given here becomes words of EXEC, so nothing may be added.
  pipeline.exec = (...given) => {
    if (refused === undefined) return exec.apply(pipeline, given)
    const [callback] = given
    const failed = Promise.reject(refused.error)
    if (typeof callback === 'function') failed.catch((error: unknown) => callback(error))
    return failed
  }
}
