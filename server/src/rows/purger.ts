import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/connection/db.ts'
import { purgeChunk } from '../store/sheets/purges.ts'

const IDLE_MS = 1000

/** Purges in the background until `signal` aborts; resolves when the chunk at hand is done. */
export async function runPurger(store: Store, log: Log, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const more = await purgeChunk(store.system).catch((cause: unknown) => {
      log.warn({ err: cause }, 'a purge failed; it is tried again')
      return false
    })
    // The pause after a chunk leaves the database to those who wait for an answer.
    await sleep(more ? 5 : IDLE_MS, undefined, { signal }).catch(() => undefined)
  }
}
