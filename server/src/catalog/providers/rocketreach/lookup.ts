import { z } from 'zod'
import { type AdapterAsk, type Found, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import type { PersonAtCompany } from '../../questions/work-email.ts'

const Number = z.object({
  number: WireText,
  e164: WireText,
  type: WireText,
  recommended: z.boolean().nullish(),
})
const Email = z.object({ email: WireText, smtp_valid: WireText, type: WireText })
const Profile = z.object({
  id: z.union([z.number(), z.string()]),
  status: z.string(),
  phones: z.array(Number).nullish(),
  emails: z.array(Email).nullish(),
  recommended_professional_email: WireText,
  current_work_email: WireText,
})
export type Profile = z.output<typeof Profile>

type Lookup = {
  person: PersonAtCompany
  /** `standard` returns addresses only, `phone` numbers only. */
  type: 'standard' | 'phone'
  poll: unknown
}

/** Requests a profile, then polls for the result. */
export function lookUp<Result>(
  ask: AdapterAsk,
  { person: { linkedin_url, full_name, domain }, type, poll }: Lookup,
  read: (profile: Profile) => Found<Result>,
): Promise<Found<Result>> {
  const conclude = (profile: Profile): Found<Result> => {
    if (profile.status === 'failed') return MISS
    if (profile.status !== 'complete') return { kind: 'pending', afterMs: 3000, poll: String(profile.id) }
    return read(profile)
  }
  if (typeof poll === 'string') {
    const request = { path: '/api/v2/person/checkStatus', query: { ids: poll } }
    return ask(request, z.array(Profile), ([profile]) => (profile === undefined ? MISS : conclude(profile)))
  }
  const who = linkedin_url === '' ? { name: full_name, current_employer: domain } : { linkedin_url }
  return ask({ path: '/api/v2/person/lookup', query: { ...who, lookup_type: type } }, Profile, conclude)
}
