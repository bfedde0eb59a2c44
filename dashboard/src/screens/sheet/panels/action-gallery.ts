import { searchCatalogue } from '#contract/catalogue-search.ts'
import type { CatalogueEntry } from '../../../api/catalogue.ts'
import { plural } from '../../../ui/figure.ts'

/** A suggestion of the server for the columns of the sheet. */
export type Suggestion = { action_id: string; reason: string; inputs: Record<string, unknown> }

/** An action in the gallery. A suggested one has a reason, and inputs with which it is added. */
export type Offer = { entry: CatalogueEntry; reason?: string; inputs?: Record<string, unknown> }
export type Section = { title: string; offers: Offer[] }

/** The categories in the order of the gallery. */
export const CATEGORIES: readonly (readonly [id: string, label: string])[] = [
  ['people', 'People'],
  ['companies', 'Companies'],
  ['ai', 'AI'],
  ['web', 'Web'],
  ['data', 'Data'],
  ['flow', 'Flow'],
  ['crm', 'CRM'],
  ['messages', 'Messages'],
  ['records', 'Records'],
]
const labelOf = (category: string): string => CATEGORIES.find(([id]) => id === category)?.[1] ?? category

/** The lists and choices of the gallery. Lists are undefined while they load. */
type Shown = {
  catalogue: readonly CatalogueEntry[] | undefined
  suggestions: readonly Suggestion[] | undefined
  recent: readonly string[]
  search: string
  /** The id of a category, or an empty text for all. */
  category: string
}

/**
 * Returns the sections of the gallery: the results of a search, or what suits the sheet, what was used last, and then
 * all others by category. Each action is in one section only.
 */
export function listSections({
  catalogue = [],
  suggestions = [],
  recent,
  search,
  category,
}: Shown): Section[] {
  const within = catalogue.filter((entry) => category === '' || entry.category === category)
  if (search.trim() !== '') {
    const offers = searchCatalogue(within, search).map((entry) => ({ entry }))
    return offers.length === 0 ? [] : [{ title: 'Results', offers }]
  }
  const left = new Map(within.map((entry) => [entry.action_id, entry]))
  const take = (id: string): CatalogueEntry[] => {
    const entry = left.get(id)
    left.delete(id)
    return entry === undefined ? [] : [entry]
  }
  const suggested = suggestions.flatMap(({ action_id, reason, inputs }) =>
    take(action_id).map((entry) => ({ entry, reason, inputs })),
  )
  const used = recent.flatMap((id) => take(id).map((entry) => ({ entry })))
  const categories = new Set([...CATEGORIES.map(([id]) => id), ...within.map((entry) => entry.category)])
  const rest = [...categories].map((id) => ({
    title: labelOf(id),
    offers: [...left.values()]
      .filter((entry) => entry.category === id)
      .sort((one, other) => one.name.localeCompare(other.name))
      .map((entry) => ({ entry })),
  }))
  const first = [
    { title: 'Suggested for this sheet', offers: suggested },
    { title: 'Recently used', offers: used },
  ]
  return [...first, ...rest].filter(({ offers }) => offers.length > 0)
}

export function printPrice({ price: { min, max } }: CatalogueEntry): string {
  return min === max ? plural(min, 'credit') : `${min} to ${plural(max, 'credit')}`
}

/** Prints what an action needs of the row: `Company domain`, `LinkedIn profile, or Full name and Company domain`. */
export function printNeeds({ inputs, needs }: CatalogueEntry): string {
  const labelOfInput = (name: string) => inputs.find((input) => input.name === name)?.label ?? name
  const required = inputs.filter((input) => input.required).map(({ label }) => label)
  const ways = needs.map((set) => set.map(labelOfInput).join(' and ')).join(', or ')
  return [...required, ...(ways === '' ? [] : [ways])].join(', ')
}

const NAMED = 3

/** Prints whom an action asks: `Hunter, Apollo, Snov and 9 more`. Those that the search names come first. */
export function printProviders({ providers }: CatalogueEntry, search: string): string {
  const wanted = search.trim().toLowerCase()
  const isFound = (name: string) => wanted !== '' && name.toLowerCase().startsWith(wanted)
  const sorted = [...providers.filter(isFound), ...providers.filter((name) => !isFound(name))]
  const more = sorted.length - NAMED
  return more > 0 ? `${sorted.slice(0, NAMED).join(', ')} and ${more} more` : sorted.join(', ')
}

const RECENT = 'loam-recent-actions'
const MAX_RECENT = 5

/** Returns the ids of the actions that this browser added last, the latest first. */
export function readRecent(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(RECENT) ?? '[]')
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : []
  } catch {
    // Somebody else wrote this key: the gallery works without it.
    return []
  }
}

export function noteRecent(actionId: string): void {
  const others = readRecent().filter((id) => id !== actionId)
  localStorage.setItem(RECENT, JSON.stringify([actionId, ...others].slice(0, MAX_RECENT)))
}
