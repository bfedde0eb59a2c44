import { z } from 'zod'
import { defineAdapter, hit } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { company } from '../../questions/company.ts'
import { linkOf } from '../../questions/person.ts'
import { peopledatalabs } from './provider.ts'

const Fields = z.object({
  name: z.string(),
  display_name: WireText,
  summary: WireText,
  industry: WireText,
  employee_count: WireNumber,
  inferred_revenue: WireText,
  founded: WireNumber,
  location: z.object({ name: WireText }).nullish(),
  ticker: WireText,
  linkedin_url: WireText,
})
/** The fields stand at the top of the answer, or under `data` as those of a person do. */
const Reply = z.union([z.object({ data: Fields }).transform(({ data }) => data), Fields])

export const peopledatalabsCompany = defineAdapter(company, peopledatalabs, {
  price: 2,
  run: (ask, { domain, name, linkedin_url }) => {
    const query = {
      website: domain || undefined,
      name: name || undefined,
      profile: linkedin_url || undefined,
    }
    return ask({ path: '/v5/company/enrich', query }, Reply, (found) =>
      hit({
        name: found.display_name || found.name,
        description: found.summary ?? null,
        industry: found.industry ?? null,
        employees: found.employee_count ?? null,
        revenue_range: found.inferred_revenue ?? null,
        founded: found.founded ?? null,
        hq: found.location?.name ?? null,
        ticker: found.ticker ?? null,
        linkedin_url: linkOf(found.linkedin_url),
      }),
    )
  },
})
