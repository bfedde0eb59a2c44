/** Of one page; what is behind them is not read. */
export const MAX_ITEMS = 5000

/** Things of one kind that a page lists, each with what it says of them. */
export type ItemList = {
  /** Words around the list, to tell it from others: its heading, its classes, its type. */
  about: string
  /** The surest first: what is written for programs, then tables, then lists. */
  rank: number
  items: Record<string, string>[]
}

/** `Unit Price (EUR)` becomes `unit_price_eur`. */
export function fieldName(label: string): string {
  const name = label
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 63)
  return /^[a-z]/.test(name) ? name : name === '' ? '' : `column_${name}`
}
