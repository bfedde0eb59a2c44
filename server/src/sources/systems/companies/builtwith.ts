import { z } from 'zod'
import { WireNumber, WireText } from '../../../catalog/provider/wire-fields.ts'
import { builtwith } from '../../../catalog/providers/builtwith/provider.ts'
import { definePull } from '../../pull.ts'
import { isLater, usersOfTechnologies } from '../theirstack/companies.ts'

// Evidence: BuiltWith's reference of the Lists API (lists12: TECH, META, COUNTRY, OFFSET, NextOffset "END") and public clients
// of it (Results[] with D, FD in milliseconds, META.CompanyName, META.Vertical, META.Country, META.Social), read November 2026.
const Site = z.object({
  D: z.string(),
  FD: WireNumber,
  Country: WireText,
  META: z
    .object({
      CompanyName: WireText,
      Vertical: WireText,
      Country: WireText,
      Social: z.array(z.string()).nullish(),
    })
    .nullish(),
})
const Reply = z.object({ Results: z.array(Site).nullish(), NextOffset: WireText })

/** The position: technologies are read one after another, so that each site gets the technology it was found by. */
const State = z.object({ technology: z.int().min(0), offset: z.string().nullable() })

export const builtwithUsers = definePull(usersOfTechnologies, builtwith, {
  price: 1,
  state: State,
  pull({ body, state, ask }) {
    const { technology: place, offset } = state ?? { technology: 0, offset: null }
    const technology = body.technologies[place] ?? ''
    const query = {
      // BuiltWith writes names with dashes, such as `Google-Analytics`.
      TECH: technology.replaceAll(' ', '-'),
      META: 'yes',
      ...(body.countries === undefined ? {} : { COUNTRY: body.countries.map(countryCode).join(',') }),
      ...(offset === null ? {} : { OFFSET: offset }),
    }
    return ask({ path: '/lists12/api.json', query }, Reply, ({ Results, NextOffset }) => {
      const rest = place + 1 < body.technologies.length ? { technology: place + 1, offset: null } : null
      const isEnd = !NextOffset || NextOffset === 'END'
      return {
        records: (Results ?? [])
          .map((site) => ({ site, first_seen: dayOf(site.FD) }))
          .filter(({ first_seen }) => isLater(first_seen, body.first_seen_after))
          .map(({ site, first_seen }) => ({
            key: `${site.D} ${technology}`,
            row: { ...rowOf(site), technology, first_seen },
          })),
        next: isEnd ? rest : { technology: place, offset: NextOffset },
      }
    })
  },
})

/** Returns the country code that BuiltWith uses: UK for the United Kingdom. */
const countryCode = (code: string): string => (code === 'GB' ? 'UK' : code)

function rowOf({ D: domain, META, Country }: z.output<typeof Site>) {
  const profile = META?.Social?.find((url) => url.includes('linkedin.com/'))
  return {
    name: META?.CompanyName ?? domain,
    domain,
    industry: META?.Vertical ?? null,
    employees: null,
    country: META?.Country ?? Country ?? null,
    linkedin_url: profile ?? null,
  }
}

/** A larger number is a time in milliseconds; as seconds it would be after the year 5000. */
const MAX_SECONDS = 1e11

/** Returns the day of a time, which BuiltWith sends in milliseconds and sent in seconds before. */
function dayOf(time: number | null | undefined): string | null {
  if (!time) return null
  return new Date(time > MAX_SECONDS ? time : time * 1000).toISOString().slice(0, 10)
}
