import { z } from 'zod'
import { defineAdapter, type Found, hit, MISS } from '../../provider/adapter.ts'
import { refusal } from '../../provider/reply.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { type FoundEmail, hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { dropcontact } from './provider.ts'

const PATH = '/v1/enrich/all'
/** The polling interval that Dropcontact names itself. */
const POLL_MS = 30_000
const Started = z.object({ request_id: z.string() })
const Email = z.object({ email: z.string(), qualification: WireText })
const Result = z.object({
  success: z.boolean(),
  error: z.union([z.boolean(), z.string()]).nullish(),
  reason: WireText,
  data: z.array(z.object({ email: z.array(Email).nullish() })).nullish(),
})

export const dropcontactWorkEmail = defineAdapter(workEmail, dropcontact, {
  price: 1,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, { full_name, first_name, last_name, domain, linkedin_url }, { poll }) => {
    if (typeof poll !== 'string') {
      const known = { full_name, first_name, last_name, website: domain, linkedin: linkedin_url }
      const json = { data: [Object.fromEntries(Object.entries(known).filter(([, value]) => value !== ''))] }
      return ask({ method: 'POST', path: PATH, json }, Started, ({ request_id }) => ({
        kind: 'pending',
        afterMs: POLL_MS,
        poll: request_id,
      }))
    }
    return ask({ path: `${PATH}/${encodeURIComponent(poll)}` }, Result, (result): Found<FoundEmail> => {
      if (result.error) return refusal('error', result.reason ?? 'the request failed')
      if (!result.success) return { kind: 'pending', afterMs: POLL_MS, poll }
      return choose(result.data?.flatMap(({ email }) => email ?? []) ?? [])
    })
  },
})

/**
 * Chooses a person's address at work, a verified one first. Dropcontact marks others as personal, generic or invalid.
 */
function choose(emails: z.output<typeof Email>[]): Found<FoundEmail> {
  const isVerified = ({ qualification }: z.output<typeof Email>) => qualification === 'nominative@pro'
  const best =
    emails.find(isVerified) ?? emails.find(({ qualification }) => qualification === 'catch_all@pro')
  return best === undefined ? MISS : hit({ email: best.email, confidence: null }, isVerified(best))
}
