import { z } from 'zod'
import { type Fetching, fetchPage, type Page as WebPage } from '../../../catalog/built-in/web/page-fetch.ts'
import type { Refusal } from '../../../catalog/provider/reply.ts'
import { builtIn } from '../../../catalog/providers/built_in/provider.ts'
import { tasksOf } from '../../../lib/readers/readers.ts'
import { definePull, type Page, type ReadByModel } from '../../pull.ts'
import { contentKey } from '../../rows.ts'
import { type Wanted, websiteItems } from './items.ts'
import { readItems } from './model-items.ts'
import type { ListedPage, tasks } from './page-tasks.ts'

const State = z.object({
  url: z.string(),
  page: z.int().min(1),
  /** The part of a page that a model reads in parts. `found` is true if an earlier part had items. */
  part: z.int().min(1).default(1),
  found: z.boolean().default(false),
})
type State = z.infer<typeof State>
type ItemPage = Page<State, Record<string, unknown>>

const MAX_PAGES = 500
const readIn = tasksOf<typeof tasks>(new URL('page-tasks.ts', import.meta.url))

export const websitePages = definePull(websiteItems, builtIn, {
  price: 0,
  model: { nameIn: ({ model }) => model, pagePrice: 1 },
  state: State,
  async pull({ body, state, context, readByModel }): Promise<ItemPage | Refusal> {
    const at = state ?? { url: body.url, page: 1, part: 1, found: false }
    const fetched = await fetchPage(context, at.url)
    if (!fetched.ok) return toRefusal(fetched.outcome)
    const { url, text, headers, cookies } = fetched.page
    const { owner = '', signal } = context
    const { item, fields } = body
    const input = { url, headers, cookies, wanted: { item, fields }, byModel: readByModel !== null }
    const read = await readIn('list', { owner, signal, document: text, what: 'page' }, input)
    const listed = read.ok ? read.value : read
    if (!listed.ok) return { kind: 'error', message: listed.message, transient: false }
    const document = { url, ...listed.page }
    return readByModel === null
      ? readLists(document, at, body)
      : readPart(context, readByModel, { page: fetched.page, document }, { at, body })
  },
})

type Document = ListedPage & { url: string }

function readLists(document: Document, at: State, body: Wanted): ItemPage | Refusal {
  const { items, isCapped } = document
  if (items === null && at.page === 1)
    return { kind: 'ineligible', message: describeMissingList(body.fields !== undefined) }
  const records = (items ?? []).flatMap(keyed(document))
  return {
    records,
    ...pageAfter(document, at, body, records.length > 0),
    ...(isCapped ? { capped: true } : {}),
  }
}

async function readPart(
  context: Fetching,
  ask: ReadByModel,
  { page, document }: { page: WebPage; document: Document },
  { at, body }: { at: State; body: Wanted },
): Promise<ItemPage | Refusal> {
  const read = await readItems(context, ask, { page, part: at.part }, body)
  if ('kind' in read) return read
  const records = read.items.flatMap(keyed(document))
  const found = at.found || records.length > 0
  if (at.part < read.parts) return { records, next: { ...at, part: at.part + 1, found } }
  return { records, ...pageAfter(document, at, body, found) }
}

/** Makes a record of an item that is not empty. Its key is its URL, or a hash of all its values. */
const keyed = (document: Document) => (row: Record<string, string | null>) => {
  const source_url = document.url
  const says = Object.values(row).some((value) => value !== null)
  return says ? [{ key: row['url'] ?? contentKey(row), row: { ...row, source_url } }] : []
}

function pageAfter({ nextUrl }: Document, { page }: State, body: Wanted, found: boolean) {
  const url = body.follow_pagination === true && found ? nextUrl : null
  const isLast = page >= MAX_PAGES
  return {
    next: url === null || isLast ? null : { url, page: page + 1, part: 1, found: false },
    capped: url !== null && isLast,
  }
}

const describeMissingList = (hasFields: boolean): string =>
  `there is no table, list or JSON-LD on the page${hasFields ? ' with any of these fields' : ''}; give the page that has the list, leave out fields to see all fields, or set a model to read the page`

function toRefusal(outcome: { kind: string; message?: string; afterMs?: number }): Refusal {
  return {
    kind: 'error',
    message: outcome.message ?? 'the page could not be read',
    transient: outcome.kind === 'retry',
  }
}
