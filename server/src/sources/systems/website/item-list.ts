import { normalizeText } from '../../../lib/plain-text.ts'
/** The maximum number of items of one page. Later items are not read. */
export const MAX_ITEMS = 5000

/** A list of similar items on a page, with the fields of each. */
export type ItemList = {
  /** The words that distinguish the list from others: its heading, its classes, its type. */
  about: string
  /** The reliability of the list, best first: data for programs, then tables, then lists. */
  rank: number
  items: Record<string, string>[]
}

/** Returns a field name for a label: `Unit Price (EUR)` becomes `unit_price_eur`. */
export function fieldName(label: string): string {
  const name = normalizeText(label, 'NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 63)
  return /^[a-z]/.test(name) ? name : name === '' ? '' : `column_${name}`
}
