import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { ignoreEmptyValues, namedValues } from '../crm/fields.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed, type Outcome, type Provenance, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import type { CellContext } from '../provider/context.ts'
import { type Refusal, refusal } from '../provider/reply.ts'
import { askProvider } from '../provider/single-provider.ts'
import { CANNOT_LOOK, writeOnce } from '../provider/write-once.ts'
import { notion } from '../providers/notion/provider.ts'
import { printFilter, printProperty } from '../push/notion-properties.ts'
import {
  chooseSource,
  databasePath,
  isNotionId,
  NotionDatabase,
  NotionSource,
  sourcePath,
  toNotionId,
} from '../push/notion.ts'
import { NOTHING_TO_WRITE, readWireValues, type WireValues } from '../push/values.ts'

// developers.notion.com/reference/post-page and query-a-data-source, of version 2025-09-03 (2026-11).
const Page = z.object({ id: z.string().min(1), url: z.url().optional() })
const Pages = z.object({ results: z.array(Page) })
type Written =
  | { ok: true; page: z.infer<typeof Page>; provenance: Provenance[] }
  | { ok: false; outcome: Outcome<never> }

type Types = Readonly<Record<string, string>>
type Known = { source: string; types: Types }
const knownSources = new LRUCache<string, Known>({ max: 1000, ttl: 60_000 })

export default defineAction({
  id: 'notion_create_page',
  name: 'Create Notion page',
  description: 'Adds a page to a Notion database.',
  category: 'data',
  synonyms: ['database', 'notes', 'export', 'save'],
  credits: 0,
  cached: false,
  timeoutSeconds: 60,
  inputs: {
    database: field.dropdown({
      required: true,
      from: 'Notion databases',
      label: 'Database',
      help: 'The Notion database. Share it with the integration first.',
      details: 'Takes its id, or its address in a browser.',
    }),
    values: namedValues(
      {
        label: 'Properties',
        help: 'The properties of the page and their values.',
        details: '{name, value} with the name of the property.',
      },
      {
        from: 'writable Notion properties',
        needs: ['database'],
      },
    ),
    ignore_empty_values: ignoreEmptyValues,
    connection: field.connection({ provider: notion }),
  },
  outputs: { id: output.text('The id of the page.'), url: output.url('Its address in Notion.') },
  async run({ inputs, context }) {
    const database = toNotionId(inputs.database)
    if (!isNotionId(database)) return unrunnable('database must be the id of a database or its address')
    const values = readWireValues(inputs.values, inputs.ignore_empty_values)
    if (values.size === 0) return unrunnable(NOTHING_TO_WRITE)
    const { connection } = inputs
    const written = await writeOnce(context, async (attempt): Promise<Written> => {
      const typed = await readSource(database, values, connection, context)
      if (!typed.ok) return typed
      const printed = printProperties(values, typed.types)
      if ('message' in printed) return { ok: false, outcome: failed(`Notion: ${printed.message}`) }
      const provenance: Provenance[] = []
      if (attempt.openSince !== null) {
        const request = searchFor(typed.source, values, typed.types, attempt.openSince)
        if (request === null) return { ok: false, outcome: failed(`Notion: ${CANNOT_LOOK}`) }
        const found = await askProvider({ provider: notion, connection, request, schema: Pages }, context)
        if (!found.ok) return found
        const [page] = found.body.results
        provenance.push(...attempt.describeLook(found.provenance, page !== undefined))
        if (page !== undefined) return { ok: true, page, provenance }
      }
      const json = {
        parent: { type: 'data_source_id', data_source_id: typed.source },
        properties: printed.properties,
      }
      const request = { method: 'POST', path: '/v1/pages', json } as const
      const call = askProvider({ provider: notion, connection, request, schema: Page }, context)
      const answer = await attempt.create(call)
      if (!answer.ok) return answer
      return { ok: true, page: answer.body, provenance: [...provenance, ...answer.provenance] }
    })
    if (!written.ok) return written.outcome
    const { page, provenance } = written
    return done({ id: page.id, url: page.url ?? null }, provenance)
  },
})

/** Reads the data source of a database and the types of its properties. They are cached for a minute, and read again if a wanted one is missing. */
async function readSource(
  database: string,
  values: WireValues,
  connection: string | undefined,
  context: CellContext,
) {
  const place = `${(await context.keys.own(notion.id, connection))?.id ?? ''} ${database}`
  const known = knownSources.get(place)
  if (known !== undefined && [...values.keys()].every((name) => Object.hasOwn(known.types, name))) {
    return { ok: true as const, ...known }
  }
  const asked = { provider: notion, connection }
  const found = await askProvider(
    { ...asked, request: { path: databasePath(database) }, schema: NotionDatabase },
    context,
  )
  if (!found.ok && found.refusal?.kind !== 'ineligible') return found
  const source = chooseSource(
    database,
    found.ok ? found : { ok: false, refusal: refusal('ineligible', 'no database') },
  )
  if (!source.ok) return { ok: false as const, outcome: failed(`Notion: ${describeRefusal(source.refusal)}`) }
  const answer = await askProvider(
    { ...asked, request: { path: sourcePath(source.body) }, schema: NotionSource },
    context,
  )
  if (!answer.ok) return answer
  const types = Object.fromEntries(
    Object.entries(answer.body.properties).map(([name, { type }]) => [name, type]),
  )
  knownSources.set(place, { source: source.body, types })
  return { ok: true as const, source: source.body, types }
}

const describeRefusal = (given: Refusal) => ('message' in given ? given.message : given.kind)

function printProperties(
  values: WireValues,
  types: Types,
): { properties: Record<string, unknown> } | { message: string } {
  const properties: Record<string, unknown> = {}
  for (const [name, value] of values) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    if (type === undefined) {
      return { message: `there is no property ${name}; there are: ${Object.keys(types).join(', ')}` }
    }
    const printed = printProperty(type, value)
    if (!printed.ok) return { message: `${name} ${printed.message}` }
    properties[name] = { [type]: printed.value }
  }
  return { properties }
}

function searchFor(source: string, values: WireValues, types: Types, since: Date) {
  const created = { timestamp: 'created_time', created_time: { on_or_after: since.toISOString() } }
  const same = [...values].flatMap(([name, value]) => printFilter(name, types[name] ?? '', value) ?? [])
  if (same.length === 0) return null
  const json = { filter: { and: [created, ...same] }, page_size: 1 }
  return { method: 'POST', path: `${sourcePath(source)}/query`, json } as const
}
