import { z } from 'zod'
import type { Store } from '../database/connection/db.ts'
import { defineJob, type Job } from '../lib/job.ts'
import { forgetLimits } from '../money/store/limits/limits.ts'
import { forgetOldTallies } from '../money/store/provider-tallies.ts'
import { forgetTests } from '../runs/store/cell-tests.ts'
import { forgetDroppedFlights } from '../runs/store/flights.ts'
import { forgetFormerCells } from '../runs/store/former-cells.ts'
import { forgetOldEdits } from '../sheets/store/edit-history.ts'
import { forgetDeletedRows } from '../sheets/store/row-edits.ts'
import { forgetRowChanges } from '../sheets/store/row-history.ts'
import { forgetOldWindows } from './store/admission.ts'
import { forgetOldCalls } from './store/idempotency.ts'
import { forgetOldSignIns } from './store/sign-in-links.ts'

/**
 * Deletes what is no longer needed: rate-limit windows and `Idempotency-Key` answers of requests, old sums of
 * providers, sign-in links, rows deleted for good, dropped flights, former results of cells, edits too old to
 * undo, old changes of rows, and unused caps.
 */
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
      await forgetTests(store.system)
      await forgetOldEdits(store.system)
      await forgetRowChanges(store.system)
      await forgetLimits(store.system)
    },
  })
}
