import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { phone } from '../../questions/phone.ts'
import { hasNameAndDomain } from '../../questions/work-email.ts'
import { lookUp } from './lookup.ts'
import { rocketreach } from './provider.ts'

export const rocketreachPhone = defineAdapter(phone, rocketreach, {
  price: 5,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person, { poll }) =>
    lookUp(ask, { person, type: 'phone', poll }, ({ phones }) => {
      const numbers = phones?.filter(({ e164, number }) => e164 || number) ?? []
      const best =
        numbers.find(({ recommended }) => recommended) ??
        numbers.find(({ type }) => type === 'mobile') ??
        numbers[0]
      const number = best?.e164 || best?.number
      return number ? hit({ phone: number, type: best?.type ?? null }) : MISS
    }),
})
