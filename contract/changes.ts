import { z } from 'zod'

/** The data of a `change` event on a sheet's stream: read again what you show. */
export const SheetChange = z.object({
  sheet_id: z.string(),
  /** Of its inputs and actions. */
  revision: z.int(),
  /** Another one when its workflow or a sheet of it was renamed, added or deleted. */
  names: z.string(),
  /** How many there are. */
  rows: z.int(),
  /** Rows of the latest run that are through, of those that it queued; null before the first run. */
  run: z
    .object({ run_id: z.string(), state: z.string(), rows_queued: z.number(), rows_done: z.number() })
    .nullable(),
})
