import { z } from 'zod'
import { readDocument, type WebDocument } from '../../catalog/built-in/web/document.ts'
import { fetchPage } from '../../catalog/built-in/web/page-fetch.ts'
import { isSameSite } from '../../catalog/built-in/web/site.ts'
import type { Refusal } from '../../catalog/provider/reply.ts'
import { builtIn } from '../../catalog/providers/built_in/provider.ts'
import { definePull } from '../pull.ts'
import { contentKey } from '../rows.ts'
import { chooseList, pickFields } from './choice.ts'
import { MAX_ITEMS } from './item-list.ts'
import { websiteItems } from './items.ts'
import { findLists } from './lists.ts'

const State = z.object({ url: z.string(), page: z.int().min(1) })
const MAX_PAGES = 500

export const websitePages = definePull(websiteItems, builtIn, {
  price: 0,
  state: State,
  async pull({ body, state, context }) {
    const { url, page } = state ?? { url: body.url, page: 1 }
    const fetched = await fetchPage(context, url)
    if (!fetched.ok) return refusalOf(fetched.outcome)
    const read = readDocument(fetched.page)
    if (!read.ok) return { kind: 'error', message: read.message, transient: false }
    const list = chooseList(findLists(read.document), body)
    if (list === null && page === 1)
      return { kind: 'ineligible', message: nothingFound(body.fields !== undefined) }
    const source_url = read.document.url.href
    const records = (list?.items ?? [])
      .map((item) => pickFields(item, body.fields))
      .filter((row) => Object.values(row).some((value) => value !== null))
      .map((row) => ({ key: row['url'] ?? contentKey(row), row: { ...row, source_url } }))
    const next = body.follow_pagination === true && records.length > 0 ? nextOf(read.document) : null
    return {
      records,
      next: next === null || page >= MAX_PAGES ? null : { url: next, page: page + 1 },
      capped: (next !== null && page >= MAX_PAGES) || (list?.items.length ?? 0) >= MAX_ITEMS,
    }
  },
})

const nothingFound = (hasFields: boolean): string =>
  `there is no table, list or JSON-LD on the page${hasFields ? ' with any of these fields' : ''}; name the page that lists them, or leave out fields to see what there is`

function refusalOf(outcome: { kind: string; message?: string; afterMs?: number }): Refusal {
  return {
    kind: 'error',
    message: outcome.message ?? 'the page could not be read',
    transient: outcome.kind === 'retry',
  }
}

/** Where the next page is, on the same site: as the page says by rel=next, or by a link that says so. */
function nextOf({ $, base, url, links }: WebDocument): string | null {
  const said = $('link[rel~="next"][href], a[rel~="next"][href]').first().attr('href')
  const labelled = $('a[aria-label][href]')
    .filter((_, anchor) => NEXT.test($(anchor).attr('aria-label') ?? ''))
    .first()
    .attr('href')
  const named = links.find(({ text }) => NEXT.test(text))?.url.href
  const found = URL.parse(said ?? labelled ?? named ?? '', base.href)
  if (found === null || !/^https?:$/.test(found.protocol) || !isSameSite(found, url)) return null
  found.hash = ''
  return found.href === url.href ? null : found.href
}

const NEXT =
  /^\s*(?:(?:next|next page|older|older posts|more results|weiter|nächste(?: seite)?|suivant|page suivante|siguiente|successivo|volgende|próxima|次へ|下一页)\s*[›»>→]?|[›»>→])\s*$/iu
