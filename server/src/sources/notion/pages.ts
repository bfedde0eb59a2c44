import { z } from 'zod'
import { byLabel, mapReply } from '../../catalog/provider/options.ts'
import { refusal } from '../../catalog/provider/reply.ts'
import { notion } from '../../catalog/providers/notion/provider.ts'
import type { SourceOptions } from '../define.ts'
import { definePull } from '../pull.ts'
import { defineShape } from '../shape.ts'
import { readProperty } from './property.ts'

const ID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

export const pages = defineShape({
  body: {
    database: z
      .string()
      .trim()
      .max(500)
      // The address of a database ends with its id, then may come that of a view.
      .transform((text) => /([0-9a-f]{32})(\?|$)/i.exec(text)?.[1] ?? text)
      .refine((id) => ID.test(id), 'must be the id of a database or its address')
      .describe('The id of the database, or its address in a browser; share it with the integration first'),
    fields: z
      .array(z.string().min(1).max(500))
      .min(1)
      .max(200)
      .describe('Names of the properties of a row; all when it is left out')
      .optional(),
  },
  row: z.record(z.string(), z.unknown()),
})

// https://developers.notion.com/reference/post-database-query, of version 2022-06-28
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
})
const MAX_PAGE = 100

export const databasePages = definePull(pages, notion, {
  price: 0,
  state: State,
  skipExisting: (now) => ({ since: now.toISOString(), newest: null, cursor: null }),
  pull({ body: { database, fields }, state, limit, ask }) {
    const since = state?.since ?? null
    const json = {
      page_size: Math.min(MAX_PAGE, limit),
      sorts: [{ timestamp: 'last_edited_time', direction: 'ascending' }],
      ...(since === null
        ? {}
        : { filter: { timestamp: 'last_edited_time', last_edited_time: { on_or_after: since } } }),
      ...(state?.cursor ? { start_cursor: state.cursor } : {}),
    }
    const request = { method: 'POST', path: `/v1/databases/${database}/query`, json } as const
    return ask(request, Reply, ({ results, has_more, next_cursor }) => {
      // Told to the minute, and asked for inclusively: no page of that minute is missed.
      const newest = results.at(-1)?.last_edited_time ?? state?.newest ?? null
      return {
        records: results.map(({ id, url, properties }) => ({
          key: id,
          row: {
            id,
            url: url ?? null,
            ...Object.fromEntries(
              (fields ?? Object.keys(properties)).map((name) => [name, readProperty(properties[name])]),
            ),
          },
        })),
        next: has_more && next_cursor ? { since, newest, cursor: next_cursor } : null,
        resume: { since: newest ?? since, newest: null, cursor: null },
      }
    })
  },
})

const Texts = z.array(z.object({ plain_text: z.string() })).default([])
const Databases = z.object({ results: z.array(z.object({ id: z.string(), title: Texts })) })
const Database = z.object({ properties: z.record(z.string(), z.object({ type: z.string() })) })

const databases: SourceOptions = {
  provider: notion,
  async list(send) {
    const json = { filter: { property: 'object', value: 'database' }, page_size: 100 }
    const reply = await send({ method: 'POST', path: '/v1/search', json }, Databases)
    return mapReply(reply, ({ results }) =>
      byLabel(
        results.map(({ id, title }) => ({
          value: id,
          label: title.map(({ plain_text }) => plain_text).join('') || id,
        })),
      ),
    )
  },
}

const fields: SourceOptions = {
  provider: notion,
  needs: { database: ['database_id'] },
  async list(send, { database = '' }) {
    if (!ID.test(database)) {
      return { ok: false, refusal: refusal('ineligible', 'database must be the id of a database') }
    }
    return mapReply(await send({ path: `/v1/databases/${database}` }, Database), ({ properties }) =>
      byLabel(
        Object.entries(properties).map(([name, { type }]) => ({
          value: name,
          label: name,
          extras: { type },
        })),
      ),
    )
  },
}

export const notionOptions = { database: databases, fields }
