import { z } from 'zod'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import { type Refusal, refusal } from '../../../catalog/provider/reply.ts'
import { notion } from '../../../catalog/providers/notion/provider.ts'
import {
  chooseSource,
  databasePath,
  isNotionId,
  listNotionDatabases,
  listNotionProperties,
  NotionDatabase,
  sourcePath,
  toNotionId,
} from '../../../catalog/push/notion.ts'
import { ownValue } from '../../../lib/json/object.ts'
import type { SourceOptions } from '../../define.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'
import { readProperty } from './property.ts'

export const pages = defineShape({
  body: {
    database: z
      .string()
      .trim()
      .max(500)
      .transform(toNotionId)
      .refine(isNotionId, 'must be the id or the URL of a database')
      .describe('The id of the database, or its URL in a browser; share it with the integration first'),
    fields: z
      .array(z.string().min(1).max(500))
      .min(1)
      .max(200)
      .describe('Names of the properties of a row; default: all')
      .optional(),
  },
  row: z.record(z.string(), z.unknown()),
  fieldsOf: ({ fields }) => (fields === undefined ? null : [...new Set(['id', 'url', ...fields])]),
})

// https://developers.notion.com/reference/query-a-data-source, of version 2025-09-03
const Reply = z.object({
  results: z.array(
    z.object({
      id: z.string(),
      url: z.string().optional(),
      last_edited_time: z.string().optional(),
      properties: z.record(z.string(), z.looseObject({ type: z.string() })).default({}),
    }),
  ),
  has_more: z.boolean().default(false),
  next_cursor: z.string().nullish(),
})

const State = z.object({
  since: z.string().nullable(),
  newest: z.string().nullable(),
  cursor: z.string().nullable(),
  /** The data source of the database. States of before version 2025-09-03 have none. */
  source: z.string().nullish(),
})
const MAX_PAGE = 100

export const databasePages = definePull(pages, notion, {
  price: 0,
  state: State,
  skipExisting: (at) => ({ since: at.toISOString(), newest: null, cursor: null }),
  // Notion reports edit times in minutes.
  skipsCoarsely: true,
  async pull({ body: { database, fields }, state, limit, ask }) {
    const source = state?.source ?? (await findSource(ask, database))
    if (typeof source !== 'string') return source
    const since = state?.since ?? null
    const json = {
      page_size: Math.min(MAX_PAGE, limit),
      sorts: [{ timestamp: 'last_edited_time', direction: 'ascending' }],
      ...(since === null
        ? {}
        : { filter: { timestamp: 'last_edited_time', last_edited_time: { on_or_after: since } } }),
      ...(state?.cursor ? { start_cursor: state.cursor } : {}),
    }
    const request = { method: 'POST', path: `${sourcePath(source)}/query`, json } as const
    return ask(request, Reply, ({ results, has_more, next_cursor }) => {
      // Edit times are whole minutes and the filter includes the bound, so no page of that minute is missed.
      const newest = results.at(-1)?.last_edited_time ?? state?.newest ?? null
      return {
        records: results.map(({ id, url, properties }) => ({
          key: id,
          row: {
            id,
            url: url ?? null,
            ...Object.fromEntries(
              (fields ?? Object.keys(properties)).map((name) => [
                name,
                readProperty(ownValue(properties, name)),
              ]),
            ),
          },
        })),
        next: has_more && next_cursor ? { since, newest, cursor: next_cursor, source } : null,
        resume: { since: newest ?? since, newest: null, cursor: null, source },
      }
    })
  },
})

/** Returns the id of the data source that a database has, or why there is none to read. */
async function findSource(ask: Ask, database: string): Promise<string | Refusal> {
  const found = await ask({ path: databasePath(database) }, NotionDatabase, (body) => ({ body }))
  const chosen = chooseSource(
    database,
    'kind' in found ? { ok: false, refusal: found } : { ok: true, body: found.body },
  )
  return chosen.ok ? chosen.body : chosen.refusal
}

const databases: SourceOptions = { provider: notion, list: (send) => listNotionDatabases(send) }

const fields: SourceOptions = {
  provider: notion,
  needs: { database: ['database_id'] },
  async list(send, { database = '' }) {
    if (!isNotionId(database)) {
      return { ok: false, refusal: refusal('ineligible', 'database must be the id of a database') }
    }
    return listNotionProperties(send, database)
  },
}

export const notionOptions = { database: databases, fields }
