import { z } from 'zod'
import { crustdata } from '../../catalog/providers/crustdata/provider.ts'
import { countryName } from '../companies/search.ts'
import { definePull } from '../pull.ts'
import { contentKey } from '../rows.ts'
import { people, type PeopleSearch } from './search.ts'

// Evidence: Crustdata's reference of POST /person/search (2025-11-01): conditions by field, cursor, profiles[].
const Text = z.string().nullish()
const Job = z.object({ title: Text, name: Text, company_name: Text, company_website_domain: Text })
/** A person as all of Crustdata's searches tell of one. */
export const Profile = z.object({
  crustdata_person_id: z.union([z.string(), z.number()]).nullish(),
  basic_profile: z.object({
    name: z.string(),
    headline: Text,
    current_title: Text,
    location: z.object({ full_location: Text }).nullish(),
  }),
  experience: z
    .object({ employment_details: z.object({ current: z.array(Job).nullish() }).nullish() })
    .nullish(),
  social_handles: z
    .object({ professional_network_identifier: z.object({ profile_url: Text }).nullish() })
    .nullish(),
})
const Reply = z.object({
  profiles: z.array(Profile),
  next_cursor: Text,
  total_count: z.number().nullish(),
})
const MAX_PAGE = 100
const State = z.object({ cursor: z.string() })

export const crustdataPeopleSearch = definePull(people, crustdata, {
  price: 1,
  state: State,
  pull({ body, state, limit, ask }) {
    const json = {
      filters: { op: 'and', conditions: conditionsOf(body) },
      limit: Math.min(limit, MAX_PAGE),
      ...(state === null ? {} : { cursor: state.cursor }),
    }
    const request = { method: 'POST', path: '/person/search', json } as const
    return ask(request, Reply, ({ profiles, next_cursor, total_count }) => ({
      records: profiles.map(recordOf),
      next: next_cursor && profiles.length > 0 ? { cursor: next_cursor } : null,
      ...(typeof total_count === 'number' ? { total: total_count } : {}),
    }))
  },
})

export function recordOf({
  crustdata_person_id: id,
  basic_profile,
  experience,
  social_handles,
}: z.infer<typeof Profile>) {
  const now = experience?.employment_details?.current?.[0]
  const row = {
    full_name: basic_profile.name,
    title: now?.title ?? basic_profile.current_title ?? basic_profile.headline ?? null,
    company: now?.name ?? now?.company_name ?? null,
    domain: now?.company_website_domain ?? null,
    linkedin_url: social_handles?.professional_network_identifier?.profile_url ?? null,
    location: basic_profile.location?.full_location ?? null,
  }
  // Those who were found just now have no number yet.
  return { key: id ?? row.linkedin_url ?? contentKey(row, 'full_name', 'company'), row }
}

const LEVELS: Record<string, string> = {
  owner: 'Owner / Partner',
  founder: 'Owner / Partner',
  partner: 'Owner / Partner',
  c_suite: 'CXO',
  vp: 'Vice President',
  head: 'Director',
  director: 'Director',
  manager: 'Experienced Manager',
  senior: 'Senior',
  entry: 'Entry Level',
  intern: 'In Training',
}
const JOB = 'experience.employment_details.current'

function conditionsOf({ titles, seniority, company_domains, countries, keywords }: PeopleSearch) {
  const any = (field: string, values: readonly string[] = []) =>
    values.length === 0
      ? []
      : [{ op: 'or', conditions: values.map((value) => ({ field, type: '(.)', value })) }]
  const oneOf = (field: string, value: readonly string[] = []) =>
    value.length === 0 ? [] : [{ field, type: 'in', value }]
  return [
    ...any(`${JOB}.title`, titles),
    ...oneOf(`${JOB}.seniority_level`, [...new Set(seniority?.flatMap((level) => LEVELS[level] ?? []))]),
    ...oneOf(`${JOB}.company_website_domain`, company_domains),
    ...any('basic_profile.location.full_location', countries?.map(countryName)),
    ...any('basic_profile.headline', keywords),
  ]
}
