import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasBothNames, workEmail } from '../../questions/work-email.ts'
import { leadmagic } from './provider.ts'

const Reply = z.object({ email: WireText, status: WireText })
/**
 * The statuses of verified addresses. In a domain that accepts every address, LeadMagic has verified this one in
 * another way.
 */
const VERIFIED = new Set(['valid', 'valid_catch_all'])

/** Finds work emails, by name if possible, because only then LeadMagic returns a status. */
export const leadmagicWorkEmail = defineAdapter(workEmail, leadmagic, {
  price: 1,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, person) => {
    const { first_name, last_name, domain, linkedin_url } = person
    const request = hasBothNames(person)
      ? { path: '/v1/people/email-finder', json: { first_name, last_name, domain } }
      : { path: '/v1/people/b2b-profile-email', json: { profile_url: linkedin_url } }
    return ask({ method: 'POST', ...request }, Reply, ({ email, status }) =>
      email ? hit({ email, confidence: null }, VERIFIED.has(status ?? '')) : MISS,
    )
  },
})
