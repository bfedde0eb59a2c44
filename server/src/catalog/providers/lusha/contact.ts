import { z } from 'zod'
import { type AdapterAsk, type Found, MISS } from '../../provider/adapter.ts'
import { refusal } from '../../provider/reply.ts'
import { WireText } from '../../provider/wire-fields.ts'
import type { PersonAtCompany } from '../../questions/work-email.ts'

const Contact = z.object({
  emails: z.array(z.object({ email: z.string(), type: WireText, confidence: WireText })).nullish(),
  phones: z
    .array(z.object({ number: z.string(), type: WireText, doNotCall: z.boolean().nullish() }))
    .nullish(),
  /** The error instead of a contact: not found, not to be shown, or failed. */
  error: z.object({ code: WireText }).nullish(),
})
const Reply = z.object({ results: z.array(Contact) })
export type Contact = z.output<typeof Contact>

/** Finds a contact and reveals one part of it, which is paid for. */
export function revealContact<Result>(
  ask: AdapterAsk,
  { first_name, last_name, domain, linkedin_url }: PersonAtCompany,
  reveal: 'emails' | 'phones',
  read: (contact: Contact) => Found<Result>,
): Promise<Found<Result>> {
  const contact =
    linkedin_url === ''
      ? { firstName: first_name, lastName: last_name, companyDomain: domain }
      : { linkedinUrl: linkedin_url }
  const json = { contacts: [contact], reveal: [reveal] }
  return ask(
    { method: 'POST', path: '/v3/contacts/search-and-enrich', json },
    Reply,
    ({ results: [found] }) => {
      // Lusha could not look, which is not the same as finding nobody.
      if (found?.error?.code === 'ENRICH_FAILED')
        return refusal('outage', 'Lusha could not look the contact up')
      return found === undefined || found.error ? MISS : read(found)
    },
  )
}
