import { z } from 'zod'
import { defineJob, type Job } from '../lib/job.ts'
import type { Store } from '../store/connection/db.ts'
import { forgetOldWindows } from '../store/organisation/admission.ts'
import { forgetOldCalls } from '../store/organisation/idempotency.ts'
import { forgetOldTallies } from '../store/organisation/provider-tallies.ts'
import { forgetOldSignIns } from '../store/organisation/sign-in-links.ts'
import { forgetPurses } from '../store/purses/purses.ts'
import { forgetDroppedFlights } from '../store/runs/flights.ts'
import { forgetFormerCells } from '../store/runs/former-cells.ts'
import { forgetOldEdits } from '../store/sheets/edit-history.ts'
import { forgetDeletedRows } from '../store/sheets/row-edits.ts'

/** Forgets what was kept of requests for their rate limits and their `Idempotency-Key`, old sums of providers, links to sign in, rows that were deleted for good, flights that were dropped, what cells had before they ran again, edits that nobody will take back, and caps that nobody draws on. */
export function requestSweep(store: Store): Job {
  return defineJob({
    name: 'sweep_requests',
    cron: '*/10 * * * *',
    payload: z.unknown(),
    async run() {
      await forgetOldCalls(store.system)
      await forgetOldWindows(store)
      await forgetOldTallies(store.system)
      await forgetOldSignIns(store.system)
      await forgetDeletedRows(store.system)
      await forgetDroppedFlights(store.system)
      await forgetFormerCells(store.system)
      await forgetOldEdits(store.system)
      await forgetPurses(store.system)
    },
  })
}
