import type { Reply, Seen } from '../../catalog/testing/provider-double.ts'

export type HubspotRecord = { id: string; properties: Record<string, string | null> }

type Filter = { propertyName: string; operator: string; value?: string; values?: string[] }
type Search = {
  filterGroups: { filters: Filter[] }[]
  sorts: { propertyName: string; direction: string }[]
  properties: string[]
  limit: number
  after?: string
}

/** Serves the search of a HubSpot account: one sort, 200 a page, and no result after the 10,000th. */
export function serveAccount(records: readonly HubspotRecord[]): (seen: Seen) => Reply {
  const known = new Map<string, HubspotRecord[]>()
  return ({ body }) => {
    const search = JSON.parse(body) as Search
    const name = JSON.stringify([search.filterGroups, search.sorts])
    const found = known.get(name) ?? find(records, search)
    known.set(name, found)
    return showPage(found, search)
  }
}

function showPage(found: HubspotRecord[], { sorts, properties, limit, after = '0' }: Search): Reply {
  const start = Number(after)
  if (start + limit > 10_000 || limit > 200 || limit < 1 || sorts.length > 1) {
    return { status: 400, json: { category: 'VALIDATION_ERROR', message: 'paging is out of bounds' } }
  }
  const page = found.slice(start, start + limit)
  const end = start + page.length
  return {
    json: {
      total: found.length,
      results: page.map((one) => ({
        id: one.id,
        properties: Object.fromEntries(properties.map((name) => [name, valueOf(one, name)])),
      })),
      ...(end < found.length ? { paging: { next: { after: String(end) } } } : {}),
    },
  }
}

function find(records: readonly HubspotRecord[], { filterGroups, sorts }: Search): HubspotRecord[] {
  const place = (one: HubspotRecord) => numberOf(valueOf(one, sorts[0]?.propertyName ?? ''))
  return records
    .filter((one) =>
      filterGroups.some(({ filters }) =>
        filters.every((filter) => holds(valueOf(one, filter.propertyName), filter)),
      ),
    )
    .map((one) => ({ one, at: place(one) }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one)
}

const valueOf = ({ id, properties }: HubspotRecord, name: string) =>
  name === 'hs_object_id' ? id : (properties[name] ?? null)

/** Converts a value to a number. Timestamps are compared as numbers in any notation. */
const numberOf = (value: string | null) =>
  value !== null && value.includes('T') ? Date.parse(value) : Number(value)

function holds(value: string | null, { operator, value: wanted = '', values = [] }: Filter): boolean {
  switch (operator) {
    case 'GT':
      return numberOf(value) > numberOf(wanted)
    case 'GTE':
      return numberOf(value) >= numberOf(wanted)
    case 'EQ':
      return value === wanted || numberOf(value) === numberOf(wanted)
    case 'IN':
      return value !== null && values.includes(value)
    case 'HAS_PROPERTY':
      return value !== null
    default:
      throw new Error(`this account does not know ${operator}`)
  }
}
