import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { Choices, INPUT_TYPES, MAX_DESCRIPTION } from './inputs.ts'
import { wholeNumber } from './numbers.ts'
import { boundedArray } from './schema-checks.ts'
import { Spending } from './spending.ts'
import { Name } from './text.ts'

export const MAX_SHORTCUT_ROWS = 1000
export const DEFAULT_RUNS_PAGE = 50
export const MAX_RUNS_PAGE = 100
export const MAX_WAIT_SECONDS = 60
export const MAX_SCHEMA_ENTRIES = 500

export const ShortcutInput = z
  .object({
    reference: z.string().describe('snake_case; the key in `input_data`'),
    name: z.string(),
    description: z.string().exactOptional(),
    type: z.enum(INPUT_TYPES),
    choices: z.array(z.string()).exactOptional().describe('The values that a `select` offers'),
    required: z.boolean().exactOptional(),
    defaultValue: z.unknown().optional().describe('Used when the field is missing'),
  })
  .meta({ id: 'ShortcutInputField' })
export type ShortcutInput = z.infer<typeof ShortcutInput>

const DisplayColumn = z.union([z.string(), z.boolean()], 'must be a string or a boolean')

export const ShortcutOutput = z
  .object({
    name: z.string().describe('The key in `output_data`'),
    description: z.string().exactOptional(),
    display_column: DisplayColumn.exactOptional(),
  })
  .meta({ id: 'ShortcutOutputField' })

export const Shortcut = z
  .object({
    id: Uuid,
    workflow_id: Uuid,
    parent_app_id: Uuid.nullable().describe('The original of a shared copy'),
    name: z.string(),
    description: z.string(),
    creator_email: z.string(),
    org_id: Uuid,
    input_schema: z.array(ShortcutInput),
    output_schema: z.array(ShortcutOutput),
    is_master: z.boolean(),
    is_published: z.boolean().describe('Only published shortcuts can be run'),
    is_archived: z.boolean(),
    cover_image: z.string().nullable(),
    icon_emoji: z.string().nullable(),
    created_at: DateTime,
    updated_at: DateTime,
  })
  .meta({ id: 'Shortcut' })

export const ListShortcutsQuery = z.strictObject({
  filter: z.enum(['master', 'shared', 'all']).default('all'),
})

export const IN_PROGRESS_STATUSES = ['pending', 'inProgress'] as const
export const END_STATUSES = ['completed', 'failed', 'error', 'outOfCredits'] as const
export type EndStatus = (typeof END_STATUSES)[number]
/** The statuses of one field of `output_data`. `skipped` means that the run ended before its action. */
export const FIELD_STATUSES = [...END_STATUSES, 'conditionNotMet', 'skipped'] as const
export type FieldStatus = (typeof FIELD_STATUSES)[number]

/** Returns the schema of a map by name. It is not a zod record: copying would lose a name such as __proto__. */
const ByName = (description: string, type: 'object' | ['object', 'null'] = 'object') =>
  z.unknown().meta({ type, description } as { description: string })

export const ShortcutRun = z
  .object({
    id: Uuid,
    app_id: Uuid.describe('The shortcut'),
    workflow_id: Uuid,
    data_id: Uuid.describe('The row of the workflow that holds this run'),
    user_email: z.string(),
    org_id: Uuid,
    batch_id: Uuid.nullable(),
    input_data: ByName('Values by reference, including the defaults that were used'),
    output_data: ByName('Null until finished; then `{value, status}` by output name', ['object', 'null']),
    status: z.enum([...IN_PROGRESS_STATUSES, ...END_STATUSES]),
    error_message: z.string().nullable(),
    created_at: DateTime,
    completed_at: DateTime.nullable(),
  })
  .meta({ id: 'ShortcutRun' })
export type ShortcutRun = z.infer<typeof ShortcutRun>

export const RunShortcutBody = z.strictObject({
  input_data: z
    .unknown()
    .superRefine((value, context) => {
      if (value === undefined) context.addIssue({ code: 'custom', message: 'required' })
    })
    .meta({ type: 'object', description: 'Values by reference' }),
  ...Spending,
})
export const RunShortcutQuery = z.strictObject({
  wait: wholeNumber(0, MAX_WAIT_SECONDS)
    .default(0)
    .describe('Seconds to wait for the run to finish; if it takes longer, the unfinished run is returned'),
})
export const QueuedShortcutRun = z.object({
  id: Uuid,
  data_id: Uuid,
  status: z.literal('pending'),
  created_at: DateTime,
})

export const RunShortcutBatchBody = z.strictObject({
  rows: boundedArray(z.unknown(), { min: 1, max: MAX_SHORTCUT_ROWS }).describe('Objects keyed by reference'),
  ...Spending,
})
export const QueuedShortcutBatch = z.object({ batch_id: Uuid, run_count: z.int() })

export const ListShortcutRunsQuery = z.strictObject({
  limit: wholeNumber(1, MAX_RUNS_PAGE).default(DEFAULT_RUNS_PAGE),
  offset: wholeNumber(0, 1_000_000_000).default(0),
  batch_id: Uuid.toLowerCase().exactOptional(),
  mode: z.enum(['single', 'batch']).exactOptional(),
})
export const ShortcutRunPage = z.object({
  runs: z.array(ShortcutRun).describe('Newest first'),
  pagination: z.object({
    limit: z.int(),
    offset: z.int(),
    total: z.int().describe('With a filter, the number of runs on this page'),
  }),
})

const Description = z
  .string('must be a string')
  .max(MAX_DESCRIPTION)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text without NUL')
const Reference = z
  .string('must be a string')
  .max(255)
  .refine(
    (text) => /^[\p{L}\p{M}\p{N}]+(_[\p{L}\p{M}\p{N}]+)*$/u.test(text) && text === text.toLowerCase(),
    'must be snake_case',
  )

/** A publisher's description of an input. The input is found by its reference or else by its name in the sheet. */
export const GivenInput = z
  .strictObject({
    reference: Reference.exactOptional(),
    name: Name.exactOptional(),
    description: Description.exactOptional(),
    type: z.enum(INPUT_TYPES, `must be one of: ${INPUT_TYPES.join(', ')}`).exactOptional(),
    choices: Choices.exactOptional(),
    required: z.boolean('must be true or false').exactOptional(),
    defaultValue: z.unknown().optional(),
  })
  .refine((entry) => entry.reference !== undefined || entry.name !== undefined, 'needs a reference or a name')
export type GivenInput = z.infer<typeof GivenInput>

/** A publisher's description of an output: a derived name, or any name together with a reference token. */
export const GivenOutput = z.strictObject({
  name: Name,
  reference: z
    .string('must be a string')
    .exactOptional()
    .describe('`{{<action_instance_id>.<output>}}`; not returned later'),
  description: Description.exactOptional(),
  display_column: DisplayColumn.exactOptional(),
})
export type GivenOutput = z.infer<typeof GivenOutput>

export const GivenInputs = z
  .array(GivenInput, 'must be an array of input_schema entries')
  .max(MAX_SCHEMA_ENTRIES)
export const GivenOutputs = z
  .array(GivenOutput, 'must be an array of output_schema entries')
  .max(MAX_SCHEMA_ENTRIES)

/** The details of a shortcut that are not frozen with its versions. */
export const ShortcutDetails = z.strictObject({
  name: Name,
  description: Description,
  cover_image: z
    .union([z.literal(''), z.url({ protocol: /^https?$/ }).max(2000)], 'must be an http(s) address')
    .transform((text) => (text === '' ? null : text)),
  icon_emoji: z
    .string()
    .trim()
    .max(32)
    .refine((text) => !/[\p{L}\p{Cc}]/u.test(text) && text.isWellFormed(), 'must be an emoji')
    .transform((text) => (text === '' ? null : text)),
})
export type ShortcutDetails = z.infer<typeof ShortcutDetails>
