import { z } from 'zod'
import { WireNumber, WireText } from '../../../catalog/provider/wire-fields.ts'
import { CURRENT_JOB, LEVELS, presentOf, Profile } from '../../../catalog/providers/crustdata/profile.ts'
import { crustdata } from '../../../catalog/providers/crustdata/provider.ts'
import { ownValue } from '../../../lib/json/object.ts'
import { definePull } from '../../pull.ts'
import { contentKey } from '../../rows.ts'
import { countryName } from '../companies/search.ts'
import { people, type PeopleSearch } from './search.ts'

// Evidence: Crustdata's reference of POST /person/search (2025-11-01): conditions by field, cursor, profiles[].
const Reply = z.object({
  profiles: z.array(Profile),
  next_cursor: WireText,
  total_count: WireNumber,
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

export function recordOf(profile: Profile) {
  const row = presentOf(profile)
  // People found only now have no id yet.
  const key = profile.crustdata_person_id ?? row.linkedin_url ?? contentKey(row, 'full_name', 'company')
  return { key, row }
}

function conditionsOf({ titles, seniority, company_domains, countries, keywords }: PeopleSearch) {
  const any = (field: string, values: readonly string[] = []) =>
    values.length === 0
      ? []
      : [{ op: 'or', conditions: values.map((value) => ({ field, type: '(.)', value })) }]
  const oneOf = (field: string, value: readonly string[] = []) =>
    value.length === 0 ? [] : [{ field, type: 'in', value }]
  return [
    ...any(`${CURRENT_JOB}.title`, titles),
    ...oneOf(`${CURRENT_JOB}.seniority_level`, [
      ...new Set(seniority?.flatMap((level) => ownValue(LEVELS, level) ?? [])),
    ]),
    ...oneOf(`${CURRENT_JOB}.company_website_domain`, company_domains),
    ...any('basic_profile.location.full_location', countries?.map(countryName)),
    ...any('basic_profile.headline', keywords),
  ]
}
