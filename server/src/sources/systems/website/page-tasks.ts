import { readDocument, type SentPage, type WebDocument } from '../../../catalog/built-in/web/document.ts'
import { isSameSite } from '../../../catalog/built-in/web/site.ts'
import { chooseList, pickFields } from './choice.ts'
import { MAX_ITEMS } from './item-list.ts'
import type { Wanted } from './items.ts'
import { findLists } from './lists.ts'

// Loads the parser first, so that its load time does not count towards the time limit of a document.
await import('cheerio')

export type ListedPage = {
  /** The items of the matching list, or null if there is none or a model reads them. */
  items: Record<string, string | null>[] | null
  isCapped: boolean
  nextUrl: string | null
}
type Asked = Omit<SentPage, 'text'> & { wanted: Pick<Wanted, 'item' | 'fields'>; byModel: boolean }
type Read = { ok: true; page: ListedPage } | { ok: false; message: string }

export const tasks = {
  async list(text: string, { wanted, byModel, ...page }: Asked): Promise<Read> {
    const read = await readDocument({ ...page, text })
    if (!read.ok) return read
    const list = byModel ? null : chooseList(findLists(read.document), wanted)
    return {
      ok: true,
      page: {
        items: list?.items.map((item) => pickFields(item, wanted.fields)) ?? null,
        isCapped: (list?.items.length ?? 0) >= MAX_ITEMS,
        nextUrl: findNextPage(read.document),
      },
    }
  },
}

/** Returns the next page on the same site: from rel=next, or from a link with such a label. */
function findNextPage({ $, base, url, links }: WebDocument): string | null {
  const related = $('link[rel~="next"][href], a[rel~="next"][href]').first().attr('href')
  const labelled = $('a[aria-label][href]')
    .filter((_, anchor) => NEXT.test($(anchor).attr('aria-label') ?? ''))
    .first()
    .attr('href')
  const named = links.find(({ text }) => NEXT.test(text))?.url.href
  const found = URL.parse(related ?? labelled ?? named ?? '', base.href)
  if (found === null || !/^https?:$/.test(found.protocol) || !isSameSite(found, url)) return null
  found.hash = ''
  return found.href === url.href ? null : found.href
}

const NEXT =
  /^\s*(?:(?:next|next page|older|older posts|more results|weiter|nächste(?: seite)?|suivant|page suivante|siguiente|successivo|volgende|próxima|次へ|下一页)\s*[›»>→]?|[›»>→])\s*$/iu
