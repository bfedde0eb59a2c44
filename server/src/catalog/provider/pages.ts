import type { Paused } from './adapter.ts'
import type { Refusal } from './reply.ts'

export type Page<Item, Cursor> = { items: Item[]; next: Cursor | null }

/** The items that were read. `note` says why they are not all, if a later page was refused. */
export type Pages<Item> = { kind: 'pages'; items: Item[]; note: string | null }

const MAX_PAGES = 1000
/** The number of empty pages in a row that end the reading. A first page may be empty although later ones are not. */
const MAX_EMPTY_PAGES = 3

/**
 * Returns the items of all pages up to `max`. It ends when a page names no next one, names one that was already read,
 * or when several in a row are empty. Paid results are kept: a page that must wait is read later, and if a page is
 * refused permanently, the items before it are the answer.
 */
export async function collectPages<Item, Cursor>(
  read: (cursor: Cursor) => Promise<Page<Item, Cursor> | Refusal | Paused>,
  { first, max }: { first: Cursor; max: number },
): Promise<Pages<Item> | Refusal | Paused> {
  const items: Item[] = []
  const seen = new Set<string>()
  let empty = 0
  let note: string | null = null
  for (let cursor: Cursor | null = first; cursor !== null && items.length < max;) {
    const name = JSON.stringify(cursor)
    if (seen.has(name) || seen.size >= MAX_PAGES || empty >= MAX_EMPTY_PAGES) break
    seen.add(name)
    const page: Page<Item, Cursor> | Refusal | Paused = await read(cursor)
    if ('kind' in page) {
      if (page.kind === 'paused' || items.length === 0) return page
      note = `only the first ${items.length}: ${'message' in page ? page.message : 'it has no more'}`
      break
    }
    items.push(...page.items)
    empty = page.items.length === 0 ? empty + 1 : 0
    cursor = page.next
  }
  return { kind: 'pages', items: items.slice(0, max), note }
}
