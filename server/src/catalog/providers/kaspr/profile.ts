import { z } from 'zod'
import type { AdapterAsk, Found } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'

const Texts = z.array(z.string()).nullish()
const Profile = z.object({
  starryPhone: WireText,
  phones: Texts,
  starryWorkEmail: WireText,
  workEmails: Texts,
  starryProfessionalEmail: WireText,
  professionalEmails: Texts,
})
/** The reply, which is empty if nobody was found. */
const Reply = z.object({ profile: Profile.nullish() }).nullable()
export type Profile = z.output<typeof Profile>

/** Looks a person up and reads the wanted part. It is paid for only if Kaspr has it. */
export function lookUpProfile<Result>(
  ask: AdapterAsk,
  { linkedin_url, full_name }: { linkedin_url: string; full_name: string },
  wanted: 'phone' | 'workEmail',
  read: (profile: Profile) => Found<Result>,
): Promise<Found<Result>> {
  const id = readSlug(linkedin_url) ?? ''
  const json = { id, name: full_name || id, dataToGet: [wanted], requiredData: [wanted] }
  return ask({ method: 'POST', path: '/profile/linkedin', json }, Reply, (reply) =>
    read(reply?.profile ?? {}),
  )
}

/** Returns the last part of a profile's address, by which Kaspr identifies people. */
export function readSlug(linkedinUrl: string): string | null {
  return /linkedin\.com\/in\/([^/?#]+)/i.exec(linkedinUrl)?.[1] ?? null
}
