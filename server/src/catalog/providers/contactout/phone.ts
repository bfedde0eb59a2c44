import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { phone } from '../../questions/phone.ts'
import { hasNameAndDomain } from '../../questions/work-email.ts'
import { enrichPerson } from './enrich.ts'
import { contactout } from './provider.ts'

export const contactoutPhone = defineAdapter(phone, contactout, {
  price: 5,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person) =>
    enrichPerson(ask, person, 'phone', ({ phone: numbers }) => {
      const [number] = numbers ?? []
      return number ? hit({ phone: number, type: null }) : MISS
    }),
})
