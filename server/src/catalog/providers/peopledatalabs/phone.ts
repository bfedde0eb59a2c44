import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { phone } from '../../questions/phone.ts'
import { hasNameAndDomain } from '../../questions/work-email.ts'
import { personRequest, Shown, readShown } from './person-request.ts'
import { peopledatalabs } from './provider.ts'

const Numbers = z.union([z.array(z.string()), z.boolean()]).nullish()
const Reply = z.object({ data: z.object({ mobile_phone: Shown, phone_numbers: Numbers }) })

export const peopledatalabsPhone = defineAdapter(phone, peopledatalabs, {
  price: 5,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person) => {
    const required = 'mobile_phone OR phone_numbers'
    const request = personRequest({ ...person, email: '' }, { min_likelihood: 6, required })
    return ask(request, Reply, ({ data: { mobile_phone, phone_numbers } }) => {
      const mobile = readShown(mobile_phone)
      if (mobile !== null) return hit({ phone: mobile, type: 'mobile' })
      const [other] = Array.isArray(phone_numbers) ? phone_numbers : []
      return other === undefined ? MISS : hit({ phone: other, type: null })
    })
  },
})
