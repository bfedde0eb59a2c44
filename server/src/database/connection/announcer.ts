import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { ANNOUNCE } from './changes.ts'
import type { Store } from './db.ts'

/** The time for which announcements are gathered. Each one makes every commit wait for the others once. */
const GATHER_MS = 100
/** The delay of the first announcement after a quiet time. Short, because somebody may be looking at a single cell. */
const FIRST_MS = 10

export type Announcer = {
  /** Announces to those who watch a sheet that cells of it were settled. */
  announce(sheetId: string): void
  /** Sends the announcements that are still due, before the database is closed. */
  flush(): Promise<void>
}

/** Creates an announcer that sends at most ten announcements a second, however many cells settle. */
export function createAnnouncer(store: Store, log: Log): Announcer {
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let sending = Promise.resolve()
  let sentAt = 0

  async function send(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const ids = [...changed]
    changed.clear()
    if (ids.length === 0) return
    sentAt = performance.now()
    await store
      .query({ name: 'engine-announce', text: ANNOUNCE, values: [ids] })
      .catch((cause: unknown) =>
        log.warn({ cause: reasonOf(cause) }, 'a change could not be announced; the next one says it as well'),
      )
  }
  const sendNext = () => (sending = sending.then(send))

  return {
    announce(sheetId) {
      changed.add(sheetId)
      if (timer !== undefined) return
      const wait = Math.max(FIRST_MS, sentAt + GATHER_MS - performance.now())
      timer = setTimeout(() => void sendNext(), wait).unref()
    },
    flush: sendNext,
  }
}
