import { ANNOUNCE } from '../../database/connection/changes.ts'
import type { Store } from '../../database/connection/db.ts'
import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

/** An announcement makes every commit with one wait for the others, so workers gather them for a moment. */
const GATHER_MS = 100
/** The first after a quiet time is soon told: somebody may be looking at a single cell. */
const FIRST_MS = 10

export type Announcer = {
  /** Tells those who watch a sheet that cells of it have settled. */
  announce(sheetId: string): void
  /** Tells what is still to be told, before the database is closed. */
  flush(): Promise<void>
}

/** At most ten announcements a second, however many cells settle. */
export function createAnnouncer(store: Store, log: Log): Announcer {
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let telling = Promise.resolve()
  let toldAt = 0

  async function tell(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const ids = [...changed]
    changed.clear()
    if (ids.length === 0) return
    toldAt = performance.now()
    await store
      .query({ name: 'engine-announce', text: ANNOUNCE, values: [ids] })
      .catch((cause: unknown) =>
        log.warn({ cause: reasonOf(cause) }, 'a change could not be announced; the next one says it as well'),
      )
  }
  const tellNext = () => (telling = telling.then(tell))

  return {
    announce(sheetId) {
      changed.add(sheetId)
      if (timer !== undefined) return
      const wait = Math.max(FIRST_MS, toldAt + GATHER_MS - performance.now())
      timer = setTimeout(() => void tellNext(), wait).unref()
    },
    flush: tellNext,
  }
}
