import { z } from 'zod'
import { Uuid } from './envelope.ts'
import { Name } from './text.ts'

export const CacheSince = z.iso
  .date()
  .nullable()
  .describe('Earliest UTC day whose cached runs count as fresh; null: all of them')

// The ISO form allows the year 0, but PostgreSQL does not.
const CacheSinceBody = CacheSince.refine(
  (date) => !date?.startsWith('0000'),
  'must be a date in the form YYYY-MM-DD',
)

export const Sheet = z
  .object({
    sheet_id: Uuid,
    workflow_id: Uuid,
    name: z.string(),
    is_main_sheet: z.boolean(),
    auto_run: z.boolean().describe('Runs the chain on every row that arrives'),
    cache_enabled: z.boolean().describe('Rows with equal inputs reuse outputs'),
    cache_since: CacheSince,
    continue_on_fail: z.boolean(),
  })
  .meta({ id: 'Sheet' })

export const CreatedSheet = Sheet.omit({ is_main_sheet: true, continue_on_fail: true })
export const NamedSheet = Sheet.pick({ workflow_id: true, sheet_id: true, name: true })
export const DeletedSheet = z.object({ workflow_id: Uuid, sheet_id: Uuid, deleted: z.literal(true) })

/** The settings of a sheet that people choose. */
export const SETTINGS = {
  auto_run: z.boolean().exactOptional(),
  cache_enabled: z.boolean().exactOptional(),
  cache_since: CacheSinceBody.exactOptional(),
}

export const CreateSheetBody = z.strictObject({ name: Name, ...SETTINGS })

export const UpdateSheetBody = z
  .strictObject(SETTINGS)
  .refine(
    (body) => Object.keys(body).length > 0,
    `must have at least one of: ${Object.keys(SETTINGS).join(', ')}`,
  )
