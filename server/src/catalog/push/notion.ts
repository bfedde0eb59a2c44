import { z } from 'zod'
import type { Option } from '../fields/field.ts'
import { byLabel, mapReply, type OptionQuery, type SendRequest } from '../provider/options.ts'
import type { ProviderReply } from '../provider/reply.ts'
import { notion } from '../providers/notion/provider.ts'

const ID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i
export const isNotionId = (text: string): boolean => ID.test(text)

/**
 * Returns the id of a database, given as the id or as an address. The address ends with it, unless a view's id follows.
 */
export const toNotionId = (text: string): string => /([0-9a-f]{32})(\?|$)/i.exec(text)?.[1] ?? text.trim()

// developers.notion.com/reference/post-search and retrieve-a-database, of version 2022-06-28 (2026-11).
const Texts = z.array(z.object({ plain_text: z.string() })).default([])
const Databases = z.object({ results: z.array(z.object({ id: z.string(), title: Texts })) })
export const NotionDatabase = z.object({ properties: z.record(z.string(), z.object({ type: z.string() })) })

export async function listNotionDatabases(send: SendRequest): Promise<ProviderReply<Option[]>> {
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
}

export async function listNotionProperties(
  send: SendRequest,
  database: string,
  isOffered: (type: string) => boolean = () => true,
): Promise<ProviderReply<Option[]>> {
  const reply = await send({ path: `/v1/databases/${database}` }, NotionDatabase)
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
