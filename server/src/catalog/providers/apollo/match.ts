import { z } from 'zod'
import type { ProviderRequest } from '../../provider/provider.ts'

const Text = z.string().nullish()

export const MatchReply = z.object({
  person: z
    .object({
      name: Text,
      title: Text,
      email: Text,
      email_status: Text,
      linkedin_url: Text,
      city: Text,
      state: Text,
      country: Text,
      organization: z.object({ name: Text }).nullish(),
      employment_history: z
        .array(
          z.object({
            title: Text,
            organization_name: Text,
            start_date: Text,
            end_date: Text,
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
