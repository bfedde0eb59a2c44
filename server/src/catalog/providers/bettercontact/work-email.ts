import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasBothNames, workEmail } from '../../questions/work-email.ts'
import { enrich } from './enrichment.ts'
import { bettercontact } from './provider.ts'

const VERIFIED = new Set(['valid', 'deliverable', 'catch_all_safe'])
const USELESS = new Set(['not_found', 'invalid', 'undeliverable'])

export const bettercontactWorkEmail = defineAdapter(workEmail, bettercontact, {
  price: 2,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, person, { poll }) =>
    enrich(ask, { person, part: 'email_address', poll }, (contact) => {
      const { contact_email_address: email, contact_email_address_status: status } = contact
      if (!email || USELESS.has(status ?? '')) return MISS
      return hit({ email, confidence: null }, VERIFIED.has(status ?? ''))
    }),
})
