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
/** The fields stand at the top of the answer, or under `data` as those of a person do. */
export const CompanyReply = z.union([z.object({ data: Fields }).transform(({ data }) => data), Fields])

/** `required` names a field without which it is a miss, and free. */
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
