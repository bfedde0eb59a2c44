import type { Paused } from './adapter.ts'
import type { Refusal } from './reply.ts'

export type Page<Item, Cursor> = { items: Item[]; next: Cursor | null }

/** What was read; `note` says why it is not all, where a later page was refused. */
export type Pages<Item> = { kind: 'pages'; items: Item[]; note: string | null }

const MAX_PAGES = 1000
/** Some first pages are empty while later ones are not. */
const MAX_EMPTY_PAGES = 3

/**
 * Items of all pages up to `max`. It ends when a page names no next one, names one that was read already, or when several
 * in a row hold nothing. What was paid for stays: a page that must wait is read later, and after one that is refused for
 * good what was read before it is the answer.
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
