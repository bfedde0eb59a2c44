import { z } from 'zod'
import type { ProviderRequest } from '../../provider/provider.ts'

type Known = { linkedin_url: string; email: string; full_name: string; domain: string }

/** Returns the request for a person. `required` names a field without which the reply is a free miss. */
export function personRequest(
  { linkedin_url, email, full_name, domain }: Known,
  { min_likelihood, required }: { min_likelihood: number; required?: string },
): ProviderRequest {
  const query = {
    profile: linkedin_url || undefined,
    email: email || undefined,
    name: full_name || undefined,
    company: domain || undefined,
    min_likelihood,
    required,
  }
  return { path: '/v5/person/enrich', query }
}

/** A field that the plan may hide: it is then `true` if there is a value. */
export const Shown = z.union([z.string(), z.boolean()]).nullish()
export const readShown = (value: z.output<typeof Shown>): string | null =>
  typeof value === 'string' ? value : null
