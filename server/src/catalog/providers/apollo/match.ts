import { z } from 'zod'
import type { ProviderRequest } from '../../provider/provider.ts'
import { WireText } from '../../provider/wire-fields.ts'

export const MatchReply = z.object({
  person: z
    .object({
      name: WireText,
      title: WireText,
      email: WireText,
      email_status: WireText,
      linkedin_url: WireText,
      city: WireText,
      state: WireText,
      country: WireText,
      organization: z.object({ name: WireText }).nullish(),
      employment_history: z
        .array(
          z.object({
            title: WireText,
            organization_name: WireText,
            start_date: WireText,
            end_date: WireText,
            current: z.boolean().nullish(),
          }),
        )
        .nullish(),
    })
    .nullish(),
})

type Known = { full_name: string; domain: string; linkedin_url: string; email?: string }

/** Parameters are read from the address; JSON bodies are ignored. */
export function matchRequest({ full_name, domain, linkedin_url, email }: Known): ProviderRequest {
  const query = {
    name: full_name || undefined,
    domain: domain || undefined,
    linkedin_url: linkedin_url || undefined,
    email: email || undefined,
    reveal_personal_emails: false,
  }
  return { method: 'POST', path: '/api/v1/people/match', query }
}
