import { z } from 'zod'
import type { AdapterAsk, Found } from '../../provider/adapter.ts'
import type { PersonAtCompany } from '../../questions/work-email.ts'

const Profile = z.object({
  phone: z.array(z.string()).nullish(),
  work_email: z.array(z.string()).nullish(),
  /** The status by address, or an empty list if there is none. */
  work_email_status: z.union([z.record(z.string(), z.string().nullable()), z.array(z.unknown())]).nullish(),
})
/** The reply. An empty profile is an empty list. */
const Reply = z.object({ profile: z.union([Profile, z.array(z.unknown())]).nullish() })
export type Profile = z.output<typeof Profile>

/** Reads the named parts of a person's profile. Each part is paid for. */
export function enrichPerson<Result>(
  ask: AdapterAsk,
  { linkedin_url, full_name, domain }: PersonAtCompany,
  include: 'phone' | 'work_email',
  read: (profile: Profile) => Found<Result>,
): Promise<Found<Result>> {
  const json = {
    include: [include],
    ...(linkedin_url === '' ? { full_name, company_domain: [domain] } : { linkedin_url }),
  }
  return ask({ method: 'POST', path: '/v1/people/enrich', json }, Reply, ({ profile }) =>
    read(profile && !Array.isArray(profile) ? profile : {}),
  )
}
