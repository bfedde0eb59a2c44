import { z } from 'zod'
import { ownValue } from '../../../lib/json/object.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { placeOf } from '../../questions/place.ts'

/** A person as Prospeo returns one, from a search or a lookup. */
export const Person = z.object({
  person_id: z.union([z.string(), z.number()]).nullish(),
  full_name: WireText,
  current_job_title: WireText,
  headline: WireText,
  linkedin_url: WireText,
  location: z.object({ city: WireText, state: WireText, country: WireText }).nullish(),
})
export const Company = z.object({ name: WireText, domain: WireText, website: WireText })

export const SEARCH_PATH = '/search-person'
export const SearchReply = z.object({
  results: z.array(z.object({ person: Person, company: Company.nullish() })),
  pagination: z.object({ total_page: WireNumber, total_count: WireNumber }).nullish(),
})

type Told = { person: z.output<typeof Person>; company?: z.output<typeof Company> | null | undefined }

/** Returns a person's present work: title, company and place. */
export function presentOf({ person, company }: Told) {
  return {
    full_name: person.full_name ?? '',
    title: person.current_job_title ?? person.headline ?? null,
    company: company?.name ?? null,
    location: placeOf(person.location ?? {}),
    linkedin_url: person.linkedin_url ?? null,
  }
}

const LEVELS: Readonly<Record<string, string>> = {
  owner: 'Founder/Owner',
  founder: 'Founder/Owner',
  c_suite: 'C-Suite',
  partner: 'Partner',
  vp: 'Vice President',
  head: 'Head',
  director: 'Director',
  manager: 'Manager',
  senior: 'Senior',
  entry: 'Entry',
  intern: 'Intern',
}

type Wanted = { titles?: readonly string[]; seniority?: readonly string[]; domains?: readonly string[] }

/** Returns the filters that searches for people share, without empty ones. */
export function filtersOf({ titles = [], seniority = [], domains = [] }: Wanted) {
  const levels = [...new Set(seniority.map((level) => ownValue(LEVELS, level) ?? level))]
  return {
    ...(domains.length === 0 ? {} : { company: { websites: { include: domains } } }),
    // By default only whole titles match.
    ...(titles.length === 0
      ? {}
      : { person_job_title: { include: titles, match_only_exact_job_titles: false } }),
    ...(levels.length === 0 ? {} : { person_seniority: { include: levels } }),
  }
}
