import { z } from 'zod'

/** The data of a `change` event on a sheet's stream. It tells the client to refetch what it shows. */
export const SheetChange = z.object({
  sheet_id: z.string(),
  /** The current revision of its inputs and actions. */
  revision: z.int(),
  /** A token that changes when the workflow is renamed, or one of its sheets is renamed, added or deleted. */
  names: z.string(),
  /** The number of rows. */
  rows: z.int(),
  /** The progress of the latest run: rows finished out of rows queued. Null before the first run. */
  run: z
    .object({ run_id: z.string(), state: z.string(), rows_queued: z.number(), rows_done: z.number() })
    .nullable(),
})
