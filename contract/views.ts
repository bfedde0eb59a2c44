import { z } from 'zod'
import { Column, checkRepeated, MAX_SORT_COLUMNS, Sort, trimVariable, Variable } from './columns.ts'
import { DateTime, Uuid } from './envelope.ts'
import { CreatedAtFilter, RowSelection } from './rows.ts'
import { boundedArray } from './schema-checks.ts'
import { Name, Storable } from './text.ts'

export const MAX_VIEWS = 100
const MAX_VIEW_COLUMNS = 2000
const DEFAULT_ROW_HEIGHT = 32

export const VISIBILITIES = ['shared', 'only_me'] as const
/** The types of values that a shown column can have; null if its type is not known. */
export const SHOWN_TYPES = ['string', 'number', 'boolean', 'url', 'email', 'date', 'json'] as const
export type ShownType = (typeof SHOWN_TYPES)[number]

const COLUMN_LOOK = {
  width: z.number().min(20).max(4000).optional(),
  hidden: z.boolean().optional(),
  frozen: z.boolean().optional(),
}
const VIEW_COLUMN = {
  variable: Variable.optional(),
  action_instance_id: z.string().min(1).max(200).optional(),
  path: Storable.min(1)
    .max(1000)
    .optional()
    .describe('With `action_instance_id`: shows an output, or a value inside it, as a column'),
  name: Name.optional().describe('Of a shown column; default `<display name>: <path>`'),
}

/** A column of a view: an input, an action, or a value of its answers. */
export const ViewColumn = z.strictObject({ ...VIEW_COLUMN, ...COLUMN_LOOK }).check((context) => {
  const { variable, action_instance_id, path, name } = context.value
  const add = (message: string, field?: 'path' | 'name') =>
    context.issues.push({
      code: 'custom',
      input: context.value,
      path: field === undefined ? [] : [field],
      message,
    })
  if ((variable === undefined) === (action_instance_id === undefined))
    add('must have exactly one of `variable` and `action_instance_id`')
  if (path !== undefined && action_instance_id === undefined) add('needs action_instance_id', 'path')
  if (name !== undefined && path === undefined) add('needs path', 'name')
})
export type ViewColumn = z.infer<typeof ViewColumn>

const Columns = boundedArray(ViewColumn, { max: MAX_VIEW_COLUMNS })
  .check((context) => {
    const seen = new Set<string>()
    for (const [n, column] of context.value.entries()) {
      const { variable, action_instance_id, path } = column
      const key = JSON.stringify([variable && trimVariable(variable), action_instance_id, path])
      if (seen.has(key))
        context.issues.push({ code: 'custom', input: column, path: [n], message: 'is listed before' })
      seen.add(key)
    }
  })
  .describe('In their order; columns that are not listed follow')

const SETTINGS = {
  filters: RowSelection.filters,
  status_filters: RowSelection.status_filters,
  created_at: CreatedAtFilter.nullable().optional(),
  sort: Sort.optional(),
  groups: boundedArray(Column, { max: MAX_SORT_COLUMNS }).check(checkRepeated).optional(),
  columns: Columns.optional(),
  row_height: z.int().min(16).max(200).optional().describe(`Default ${DEFAULT_ROW_HEIGHT}`),
}
const Settings = z.object(SETTINGS)
/** The stored settings of a view. Absent ones have their defaults. */
export type ViewSettings = z.infer<typeof Settings>

const OTHERS = {
  visibility: z.enum(VISIBILITIES).optional(),
  is_default: z.boolean().optional().describe('True makes it the default view of the sheet'),
}
export const CreateViewBody = z.strictObject({ name: Name, ...OTHERS, ...SETTINGS })
export const UpdateViewBody = z.strictObject({ name: Name.optional(), ...OTHERS, ...SETTINGS })
export type UpdateViewBody = z.infer<typeof UpdateViewBody>

const AnsweredColumn = z.object({
  ...VIEW_COLUMN,
  ...COLUMN_LOOK,
  type: z.enum(SHOWN_TYPES).nullable().optional().describe('Of a shown column; null while it is not known'),
  reference: z.string().optional().describe('The token of a shown column'),
})

export const View = z
  .object({
    view_id: Uuid,
    name: z.string(),
    visibility: z.enum(VISIBILITIES),
    is_default: z.boolean(),
    owner: z.string().nullable().describe('Null for the view that each sheet begins with'),
    filters: z.array(z.unknown()),
    status_filters: z.array(z.unknown()),
    created_at: z.unknown().describe('A filter on the time of creation, or null'),
    sort: z.array(z.unknown()),
    groups: z.array(z.unknown()),
    columns: z.array(AnsweredColumn),
    row_height: z.int(),
    made_at: DateTime,
    updated_at: DateTime,
  })
  .meta({ id: 'View' })
export type View = z.infer<typeof View>

export const DeletedView = z.object({ view_id: Uuid, deleted: z.literal(true) })

/** Returns the settings of a view with the defaults of those that were never set. */
export function completeSettings(settings: ViewSettings) {
  const { filters = [], status_filters = [], created_at = null, sort = [] } = settings
  const { groups = [], columns = [], row_height = DEFAULT_ROW_HEIGHT } = settings
  return { filters, status_filters, created_at, sort, groups, columns, row_height }
}
