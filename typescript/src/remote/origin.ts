import { Words } from '../host/origin.ts'
import type { ReadAt } from '../memory/over-tier.ts'

/** Words of an origin: see `near` in `native/src/remote/reads.rs`. */
const LENGTH = 6

/** Where a copy on this host was read. */
export class RemoteOrigin extends Words implements ReadAt {
  constructor() {
    super(LENGTH)
  }

  get slot(): number {
    return this.whole(0)
  }

  get created(): number {
    return this.whole(4)
  }

  get keptUntil(): number {
    return this.whole(5)
  }

  /** The same, to be kept: the native part fills this one again. */
  copy(): RemoteOrigin {
    const copy = new RemoteOrigin()
    copy.words.set(this.words)
    return copy
  }
}
