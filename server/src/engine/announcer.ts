import { reasonOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { ANNOUNCE } from '../store/connection/changes.ts'
import type { Store } from '../store/connection/db.ts'

/** An announcement makes every commit with one wait for the others, so workers gather them for a moment. */
const GATHER_MS = 100

/** Tells those who watch a sheet that cells of it have settled, at most ten times a second however many there are. */
export function createAnnouncer(store: Store, log: Log): (sheetId: string) => void {
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  async function announce(): Promise<void> {
    timer = undefined
    const ids = [...changed]
    changed.clear()
    await store.query({ name: 'engine-announce', text: ANNOUNCE, values: [ids] })
  }

  return (sheetId) => {
    changed.add(sheetId)
    timer ??= setTimeout(() => {
      announce().catch((cause: unknown) =>
        log.warn({ cause: reasonOf(cause) }, 'a change could not be announced; the next one says it as well'),
      )
    }, GATHER_MS).unref()
  }
}
