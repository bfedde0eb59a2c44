import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { anymailfinder } from './provider.ts'

const Reply = z.object({ email: WireText, email_status: WireText, valid_email: WireText })

/** Finds work emails. Risky addresses are free. People who asked to be removed are reported as blacklisted. */
export const anymailfinderWorkEmail = defineAdapter(workEmail, anymailfinder, {
  price: 1,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, { full_name, domain, linkedin_url }) => {
    const known = Object.entries({ full_name, domain, linkedin_url }).filter(([, value]) => value !== '')
    const json = Object.fromEntries(known)
    return ask({ method: 'POST', path: '/v5.1/find-email/person', json }, Reply, (found) => {
      const email = found.valid_email || found.email
      const isValid = found.email_status === 'valid'
      return email && (isValid || found.email_status === 'risky')
        ? hit({ email, confidence: null }, isValid)
        : MISS
    })
  },
})
