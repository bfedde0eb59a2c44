import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { findymail } from './provider.ts'

const Reply = z.object({ contact: z.object({ email: WireText }).nullish() })

/** Finds work emails. Findymail verifies an address before it returns it, and finds more by profile than by name. */
export const findymailWorkEmail = defineAdapter(workEmail, findymail, {
  price: 1,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, { full_name, domain, linkedin_url }) => {
    const request =
      linkedin_url === ''
        ? { path: '/api/search/name', json: { name: full_name, domain } }
        : { path: '/api/search/business-profile', json: { linkedin_url } }
    return ask({ method: 'POST', ...request }, Reply, ({ contact }) =>
      contact?.email ? hit({ email: contact.email, confidence: null }) : MISS,
    )
  },
})
