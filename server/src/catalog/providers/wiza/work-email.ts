import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { wiza } from './provider.ts'
import { reveal } from './reveal.ts'

export const wizaWorkEmail = defineAdapter(workEmail, wiza, {
  price: 2,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person, { poll }) =>
    reveal(ask, { person, level: 'partial', poll }, ({ email, email_status }) =>
      email ? hit({ email, confidence: null }, email_status === 'valid') : MISS,
    ),
})
