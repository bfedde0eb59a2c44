import { readDocument, type SentPage } from '../../../catalog/built-in/web/document.ts'
import { chooseList, pickFields } from './choice.ts'
import { MAX_ITEMS } from './item-list.ts'
import type { Wanted } from './items.ts'
import { findLists } from './lists.ts'
import { findNextPage } from './next-page.ts'

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
