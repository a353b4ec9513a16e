import { Mapping } from '../../src/host/mapping.ts'

const { of } = Mapping

/** Runs a test as on a machine where JavaScript must not read the mapping. */
export async function withoutMapping(test: () => Promise<void>): Promise<void> {
  Mapping.of = () => undefined
  try {
    await test()
  } finally {
    Mapping.of = of
  }
}
