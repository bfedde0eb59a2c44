import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { phone } from '../../questions/phone.ts'
import { hasNameAndDomain } from '../../questions/work-email.ts'
import { wiza } from './provider.ts'
import { reveal } from './reveal.ts'

export const wizaPhone = defineAdapter(phone, wiza, {
  price: 5,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person, { poll }) =>
    reveal(ask, { person, level: 'phone', poll }, ({ phones, mobile_phone, phone_number }) => {
      const best = phones?.find(({ number, pretty_number }) => number || pretty_number)
      const number = mobile_phone || best?.number || best?.pretty_number || phone_number
      return number ? hit({ phone: number, type: mobile_phone ? 'mobile' : (best?.type ?? null) }) : MISS
    }),
})
