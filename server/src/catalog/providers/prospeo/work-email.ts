import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { prospeo } from './provider.ts'
import { dataOf } from './question.ts'

const Reply = z.object({
  person: z.object({
    email: z.object({ email: WireText, status: WireText, revealed: z.boolean().nullish() }).nullish(),
  }),
})

export const prospeoWorkEmail = defineAdapter(workEmail, prospeo, {
  price: 1,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person) => {
    const json = { only_verified_email: true, data: dataOf(person) }
    return ask({ method: 'POST', path: '/enrich-person', json }, Reply, ({ person: { email } }) =>
      email?.email && email.revealed !== false
        ? hit({ email: email.email, confidence: null }, email.status?.toUpperCase() === 'VERIFIED')
        : MISS,
    )
  },
})
