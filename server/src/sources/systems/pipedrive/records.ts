import { z } from 'zod'
import { pipedrive } from '../../../catalog/providers/pipedrive/provider.ts'
import { listPipedriveFields } from '../../../catalog/push/pipedrive.ts'
import { isObject, ownValue } from '../../../lib/json/object.ts'
import type { SourceOptions } from '../../define.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'

/**
 * The kinds of records that API version 2 lists in the order of their changes:
 * https://pipedrive.readme.io/docs/pipedrive-api-v2-migration-guide
 */
const OBJECTS = ['deals', 'persons', 'organizations', 'activities'] as const
const FIELDS_OF = {
  deals: 'dealFields',
  persons: 'personFields',
  organizations: 'organizationFields',
  activities: 'activityFields',
} as const

const Id = z.int().positive()

export const records = defineShape({
  body: {
    object: z.enum(OBJECTS).describe('The kind of records'),
    fields: z
      .array(
        z
          .string()
          .regex(/^\w{1,100}$/, 'must be the key of a field, such as title or the hash of a custom field'),
      )
      .min(1)
      .max(200)
      .describe('Keys of the fields of a row; default: all fields that a record has')
      .optional(),
    filters: z
      .strictObject({
        filter_id: Id.describe('The id of a filter saved in Pipedrive').optional(),
        owner_id: Id.optional(),
        person_id: Id.optional(),
        org_id: Id.optional(),
        pipeline_id: Id.optional(),
        stage_id: Id.optional(),
        status: z.enum(['open', 'won', 'lost']).optional(),
      })
      .describe('The filters of Pipedrive; filter_id is the id of a filter saved there')
      .optional(),
  },
  row: z.record(z.string(), z.unknown()),
  fieldsOf: ({ fields }) => (fields === undefined ? null : [...new Set(['id', ...fields])]),
})

const Reply = z.object({
  data: z
    .array(z.looseObject({ id: z.union([z.int(), z.string()]), update_time: z.string().nullish() }))
    .nullable()
    .transform((data) => data ?? []),
  additional_data: z.object({ next_cursor: z.string().nullish() }).nullish(),
})

const State = z.object({
  since: z.string().nullable(),
  newest: z.string().nullable(),
  cursor: z.string().nullable(),
})
const MAX_PAGE = 500

export const importedRecords = definePull(records, pipedrive, {
  price: 0,
  state: State,
  skipExisting: (at) => ({ since: printTime(at), newest: null, cursor: null }),
  pull: ({ body: { object, fields, filters = {} }, state, limit, ask }) =>
    ask(
      {
        path: `/api/v2/${object}`,
        query: {
          ...filters,
          updated_since: state?.since ?? undefined,
          sort_by: 'update_time',
          sort_direction: 'asc',
          limit: Math.min(MAX_PAGE, limit),
          cursor: state?.cursor ?? undefined,
        },
      },
      Reply,
      ({ data, additional_data }) => {
        const times = data.flatMap(({ update_time }) => (update_time ? [update_time] : []))
        const newest = [state?.newest, ...times].reduce<string | null>(laterOf, null)
        const since = newest ?? state?.since ?? null
        const cursor = additional_data?.next_cursor ?? null
        return {
          records: data.map((one) => ({ key: one.id, row: toRow(one, fields) })),
          next: cursor === null ? null : { since: state?.since ?? null, newest, cursor },
          resume: { since, newest: null, cursor: null },
        }
      },
    ),
})

/** Prints a time in whole seconds, the format that Pipedrive reads. */
const printTime = (time: Date) => `${time.toISOString().slice(0, 19)}Z`

function laterOf(a: string | null, b: string | null | undefined): string | null {
  if (a === null || b === null || b === undefined) return a ?? b ?? null
  return Date.parse(b) > Date.parse(a) ? b : a
}

/** Converts a record. Pipedrive returns custom fields separately, by their hashes. */
function toRow({ custom_fields, ...own }: Record<string, unknown>, fields: string[] | undefined) {
  const all = { ...own, ...(isObject(custom_fields) ? custom_fields : {}) }
  if (fields === undefined) return all
  return { id: own['id'], ...Object.fromEntries(fields.map((name) => [name, ownValue(all, name) ?? null])) }
}

const fields: SourceOptions = {
  provider: pipedrive,
  needs: { object: ['object_type'] },
  async list(send, { object = '' }) {
    const known = OBJECTS.find((name) => name === object)
    if (known === undefined) {
      const message = `object must be one of: ${OBJECTS.join(', ')}`
      return { ok: false, refusal: { kind: 'ineligible', message } }
    }
    return listPipedriveFields(send, FIELDS_OF[known])
  },
}

export const pipedriveOptions = {
  object: OBJECTS.map((value) => ({ value, label: `${value[0]?.toUpperCase() ?? ''}${value.slice(1)}` })),
  fields,
  properties: fields,
}
