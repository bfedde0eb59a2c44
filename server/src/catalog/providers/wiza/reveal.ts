import { z } from 'zod'
import { type AdapterAsk, type Found, MISS } from '../../provider/adapter.ts'
import type { ProviderRequest } from '../../provider/provider.ts'
import { refusal } from '../../provider/reply.ts'
import { WireText } from '../../provider/wire-fields.ts'
import type { PersonAtCompany } from '../../questions/work-email.ts'

const PATH = '/api/individual_reveals'
const Data = z.object({
  id: z.union([z.string(), z.number()]),
  status: WireText,
  is_complete: z.boolean().nullish(),
  fail_error: WireText,
  email: WireText,
  email_status: WireText,
  phones: z.array(z.object({ number: WireText, pretty_number: WireText, type: WireText })).nullish(),
  mobile_phone: WireText,
  phone_number: WireText,
})
const Reply = z.object({ data: Data })

/** The options of a reveal. Without them personal addresses would be returned as if they were work addresses. */
const WANTED = {
  partial: {
    enrichment_level: 'partial',
    email_options: { accept_work: true, accept_personal: false },
  },
  phone: { enrichment_level: 'phone' },
}

/** Requests a reveal, then polls for the result. */
export function reveal<Result>(
  ask: AdapterAsk,
  { person, level, poll }: { person: PersonAtCompany; level: keyof typeof WANTED; poll: unknown },
  read: (data: z.output<typeof Data>) => Found<Result>,
): Promise<Found<Result>> {
  const request: ProviderRequest =
    typeof poll === 'string'
      ? { path: `${PATH}/${encodeURIComponent(poll)}` }
      : {
          method: 'POST',
          path: PATH,
          json: { individual_reveal: toQuestion(person), ...WANTED[level] },
        }
  return ask(request, Reply, ({ data }): Found<Result> => {
    if (data.status === 'failed') {
      return /credit/i.test(data.fail_error ?? '') ? refusal('no_credits', 'the key is used up') : MISS
    }
    return data.is_complete === true ? read(data) : { kind: 'pending', afterMs: 3000, poll: String(data.id) }
  })
}

/** Returns the question about a person. Wiza finds people best by profile; names would only make it less certain. */
function toQuestion({ linkedin_url, full_name, domain }: PersonAtCompany): Record<string, string> {
  return linkedin_url === '' ? { full_name, domain } : { profile_url: linkedin_url }
}
