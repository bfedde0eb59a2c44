import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { phone } from '../../questions/phone.ts'
import { hasBothNames } from '../../questions/work-email.ts'
import { enrich } from './enrichment.ts'
import { bettercontact } from './provider.ts'

export const bettercontactPhone = defineAdapter(phone, bettercontact, {
  price: 10,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, person, { poll }) =>
    enrich(ask, { person, part: 'phone_number', poll }, ({ contact_phone_number: number }) =>
      number ? hit({ phone: String(number), type: null }) : MISS,
    ),
})
