import { z } from 'zod'
import type { Option } from '../fields/field.ts'
import { byLabel, mapReply, type OptionQuery, type SendRequest } from '../provider/options.ts'
import { type ProviderReply, refusal } from '../provider/reply.ts'
import { notion } from '../providers/notion/provider.ts'

const ID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i
export const isNotionId = (text: string): boolean => ID.test(text)

/**
 * Returns the id of a database, given as the id or as an address. The address ends with it, unless a view's id follows.
 */
export const toNotionId = (text: string): string => /([0-9a-f]{32})(\?|$)/i.exec(text)?.[1] ?? text.trim()

// developers.notion.com/guides/get-started/upgrade-guide-2025-09-03 and reference/data-source (2026-11).
const Texts = z.array(z.object({ plain_text: z.string() })).default([])
const Sources = z.object({ results: z.array(z.object({ id: z.string(), title: Texts })) })
export const NotionDatabase = z.object({
  data_sources: z.array(z.object({ id: z.string(), name: z.string().nullish() })),
})
/** A table of pages. A database has one or more of them. */
export const NotionSource = z.object({ properties: z.record(z.string(), z.object({ type: z.string() })) })

export const databasePath = (id: string): string => `/v1/databases/${id}`
export const sourcePath = (id: string): string => `/v1/data_sources/${id}`

/**
 * Returns the id of a database's only data source, or a refusal that lists the ids to choose from. An id that is no
 * database is taken for the id of a data source.
 */
export function chooseSource(
  given: string,
  reply: ProviderReply<z.output<typeof NotionDatabase>>,
): ProviderReply<string> {
  if (!reply.ok) return reply.refusal.kind === 'ineligible' ? { ok: true, body: given } : reply
  const [only, ...others] = reply.body.data_sources
  if (only !== undefined && others.length === 0) return { ok: true, body: only.id }
  const names = reply.body.data_sources.map(({ id, name }) => `${name || 'unnamed'} (${id})`).join(', ')
  const message =
    only === undefined
      ? 'the database has no data source that is shared with the integration'
      : `the database has several data sources; give the id of one of them: ${names}`
  return { ok: false, refusal: refusal('ineligible', message) }
}

export async function listNotionDatabases(send: SendRequest): Promise<ProviderReply<Option[]>> {
  const json = { filter: { property: 'object', value: 'data_source' }, page_size: 100 }
  const reply = await send({ method: 'POST', path: '/v1/search', json }, Sources)
  return mapReply(reply, ({ results }) =>
    byLabel(
      results.map(({ id, title }) => ({
        value: id,
        label: title.map(({ plain_text }) => plain_text).join('') || id,
      })),
    ),
  )
}

export async function listNotionProperties(
  send: SendRequest,
  database: string,
  isOffered: (type: string) => boolean = () => true,
): Promise<ProviderReply<Option[]>> {
  const source = chooseSource(database, await send({ path: databasePath(database) }, NotionDatabase))
  if (!source.ok) return source
  const reply = await send({ path: sourcePath(source.body) }, NotionSource)
  return mapReply(reply, ({ properties }) =>
    byLabel(
      Object.entries(properties)
        .filter(([, { type }]) => isOffered(type))
        .map(([name, { type }]) => ({ value: name, label: name, extras: { type } })),
    ),
  )
}

export const createNotionOptions = (isOffered: (type: string) => boolean): Record<string, OptionQuery> => ({
  'Notion databases': { provider: notion, list: listNotionDatabases },
  'writable Notion properties': {
    provider: notion,
    parent: { field: 'database', fits: (text) => isNotionId(toNotionId(text)) },
    list: (send, database) => listNotionProperties(send, toNotionId(database), isOffered),
  },
})
