import { z } from 'zod'
import type { AdapterAsk, Found } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'

const Texts = z.array(z.string()).nullish()
const Profile = z.object({
  starryPhone: WireText,
  phones: Texts,
  starryWorkEmail: WireText,
  workEmails: Texts,
  professionalEmails: Texts,
})
/** Nobody at all is an empty answer. */
const Reply = z.object({ profile: Profile.nullish() }).nullable()
export type Profile = z.output<typeof Profile>

/** What it knows of a person: the parts that are wanted, which are paid for only where it has them. */
export function lookUpProfile<Result>(
  ask: AdapterAsk,
  { linkedin_url, full_name }: { linkedin_url: string; full_name: string },
  wanted: 'phone' | 'workEmail',
  read: (profile: Profile) => Found<Result>,
): Promise<Found<Result>> {
  const id = slugOf(linkedin_url) ?? ''
  const json = { id, name: full_name || id, dataToGet: [wanted], requiredData: [wanted] }
  return ask({ method: 'POST', path: '/profile/linkedin', json }, Reply, (reply) =>
    read(reply?.profile ?? {}),
  )
}

/** People are known by the last part of their profile's address. */
export function slugOf(linkedinUrl: string): string | null {
  return /linkedin\.com\/in\/([^/?#]+)/i.exec(linkedinUrl)?.[1] ?? null
}
