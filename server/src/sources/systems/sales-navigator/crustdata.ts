import { z } from 'zod'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import { Profile } from '../../../catalog/providers/crustdata/profile.ts'
import { crustdata } from '../../../catalog/providers/crustdata/provider.ts'
import { bareHost } from '../../../catalog/questions/person-input.ts'
import { definePull, type Keyed, type Page } from '../../pull.ts'
import { contentKey } from '../../rows.ts'
import { recordOf } from '../people/crustdata.ts'
import { COMPANY_FILTERS, PEOPLE_FILTERS, savedCompanies, savedPeople, type SavedSearch } from './search.ts'

// Evidence: Crustdata's reference of POST /company/professional_network/search/live and /person/professional_network/search/live
// (2025-11-01): filters [{field, type, value}] with a page, or a search URL (named for companies, as for both before), 25 a page.
const Text = z.string().nullish()
const Company = z.object({
  basic_info: z.object({
    name: z.string(),
    professional_network_id: z.union([z.string(), z.number()]).nullish(),
    professional_network_url: Text,
    primary_domain: Text,
    website: Text,
    industries: z.array(z.string()).nullish(),
  }),
  headcount: z.object({ total: z.number().nullish() }).nullish(),
  taxonomy: z.object({ linkedin_industry: Text }).nullish(),
  locations: z.object({ hq_country: Text }).nullish(),
})
/** The total. "32K+" and "15,000+" mean that there are more. */
const Total = { total_display_count: z.union([z.string(), z.number()]).nullish() }
const Companies = z.object({ companies: z.array(Company), ...Total })
const People = z.object({ profiles: z.array(Profile), ...Total })

const PAGE = 25
const MAX_PAGES = { company: 65, person: 100 }
const State = z.object({ page: z.int().min(1) })
type State = z.infer<typeof State>

export const crustdataSavedCompanies = definePull(savedCompanies, crustdata, {
  price: 2,
  state: State,
  pull: ({ body, state, ask }) =>
    search(
      ask,
      'company',
      { body, names: COMPANY_FILTERS, state },
      {
        schema: Companies,
        read: ({ companies, ...total }) => ({
          total,
          records: companies.map((company) => {
            const { basic_info: known, headcount, taxonomy, locations } = company
            const row = {
              name: known.name,
              domain: bareHost(known.primary_domain ?? known.website ?? '') || null,
              industry: taxonomy?.linkedin_industry ?? known.industries?.[0] ?? null,
              employees: headcount?.total ?? null,
              country: locations?.hq_country ?? null,
              linkedin_url: known.professional_network_url ?? null,
            }
            return {
              key: known.professional_network_id ?? row.linkedin_url ?? contentKey(row, 'name', 'domain'),
              row,
            }
          }),
        }),
      },
    ),
})

export const crustdataSavedPeople = definePull(savedPeople, crustdata, {
  price: 2,
  state: State,
  pull: ({ body, state, ask }) =>
    search(
      ask,
      'person',
      { body, names: PEOPLE_FILTERS, state },
      {
        schema: People,
        read: ({ profiles, ...total }) => ({
          total,
          records: profiles.map(recordOf),
        }),
      },
    ),
})

type Wanted = { body: SavedSearch; names: Readonly<Record<string, string>>; state: State | null }
type Found<Row> = {
  records: Keyed<Row>[]
  total: { total_display_count?: string | number | null | undefined }
}

/** Reads one page of a live search. All pages have the same size, so a shorter one is the last. */
async function search<Reply, Row>(
  ask: Ask,
  kind: 'company' | 'person',
  { body, names, state }: Wanted,
  { schema, read }: { schema: z.ZodType<Reply>; read: (reply: Reply) => Found<Row> },
) {
  const page = state?.page ?? 1
  const json =
    body.search_url === undefined
      ? { filters: filtersOf(body.filters ?? {}, names), page }
      : { professional_network_search_url: atPage(body.search_url, page) }
  const request = { method: 'POST', path: `/${kind}/professional_network/search/live`, json } as const
  const found = await ask(request, schema, (reply): Page<State, Row> => {
    const { records, total } = read(reply)
    const count = /^[\d,]+$/.exec(String(total.total_display_count ?? ''))?.[0]
    const isFull = records.length >= PAGE
    return {
      records,
      next: isFull && page < MAX_PAGES[kind] ? { page: page + 1 } : null,
      ...(count === undefined ? {} : { total: Number(count.replaceAll(',', '')) }),
      capped: isFull && page >= MAX_PAGES[kind],
    }
  })
  if (!('kind' in found) || found.kind !== 'no_credits') return found
  const message = `${found.message}; live searches need an enterprise key of Crustdata, or credits`
  return { ...found, message }
}

function filtersOf(given: Readonly<Record<string, unknown>>, names: Wanted['names']) {
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [{ field: names[name], type: 'in', value }],
  )
}

/**
 * Sets the page of a URL. It edits text and not URLSearchParams, so that the parentheses stay as LinkedIn writes them.
 */
function atPage(address: string, page: number): string {
  const [before = '', query = ''] = address.split(/\?(.*)/s)
  const others = query.split('&').filter((part) => !/^page=/i.test(part))
  return `${before}?${[...others, `page=${page}`].join('&')}`
}
