import { z } from 'zod'
import type { ProviderRequest } from '../../provider/provider.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import type { CompanyQuestion } from '../../questions/company.ts'

const Fields = z.object({
  name: z.string(),
  display_name: WireText,
  website: WireText,
  summary: WireText,
  industry: WireText,
  employee_count: WireNumber,
  inferred_revenue: WireText,
  founded: WireNumber,
  location: z.object({ name: WireText }).nullish(),
  ticker: WireText,
  linkedin_url: WireText,
})
/** The fields of a company, at the top of the reply or, like those of a person, under `data`. */
export const CompanyReply = z.union([z.object({ data: Fields }).transform(({ data }) => data), Fields])

/** Returns the request for a company. `required` names a field without which the reply is a free miss. */
export function companyRequest(
  { domain, name, linkedin_url }: CompanyQuestion,
  required?: string,
): ProviderRequest {
  const query = {
    website: domain || undefined,
    name: name || undefined,
    profile: linkedin_url || undefined,
    required,
  }
  return { path: '/v5/company/enrich', query }
}
