import type { Refusal } from './reply.ts'

export type Page<Item, Cursor> = { items: Item[]; next: Cursor | null }

const MAX_PAGES = 1000
/** Some first pages are empty while later ones are not. */
const MAX_EMPTY_PAGES = 3

/**
 * Items of all pages up to `most`. It ends when a page names no next one, names one that was read already, or when several
 * in a row hold nothing. A refusal after the first page leaves what was read.
 */
export async function collectPages<Item, Cursor>(
  read: (cursor: Cursor) => Promise<Page<Item, Cursor> | Refusal>,
  { first, most }: { first: Cursor; most: number },
): Promise<{ items: Item[]; refusal: Refusal | null }> {
  const items: Item[] = []
  const seen = new Set<string>()
  let empty = 0
  for (let cursor: Cursor | null = first; cursor !== null && items.length < most;) {
    const name = JSON.stringify(cursor)
    if (seen.has(name) || seen.size >= MAX_PAGES || empty >= MAX_EMPTY_PAGES) break
    seen.add(name)
    const page: Page<Item, Cursor> | Refusal = await read(cursor)
    if ('kind' in page) return { items: items.slice(0, most), refusal: page }
    items.push(...page.items)
    empty = page.items.length === 0 ? empty + 1 : 0
    cursor = page.next
  }
  return { items: items.slice(0, most), refusal: null }
}
