import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { phone } from '../../questions/phone.ts'
import { hasNameAndDomain } from '../../questions/work-email.ts'
import { prospeo } from './provider.ts'
import { dataOf } from './question.ts'

const Mobile = z.object({
  mobile: WireText,
  mobile_international: WireText,
  revealed: z.boolean().nullish(),
})
const Reply = z.object({ person: z.object({ mobile: Mobile.nullish() }) })

export const prospeoPhone = defineAdapter(phone, prospeo, {
  price: 10,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person) => {
    const json = { enrich_mobile: true, only_verified_mobile: true, data: dataOf(person) }
    return ask({ method: 'POST', path: '/enrich-person', json }, Reply, ({ person: { mobile } }) => {
      const number = mobile?.mobile_international || mobile?.mobile
      return number && mobile?.revealed !== false ? hit({ phone: number, type: 'mobile' }) : MISS
    })
  },
})
