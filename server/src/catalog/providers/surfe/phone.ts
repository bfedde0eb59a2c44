import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireNumber } from '../../provider/wire-fields.ts'
import { phone } from '../../questions/phone.ts'
import { hasBothNames } from '../../questions/work-email.ts'
import { enrich, toPersonFields } from './enrichment.ts'
import { surfe } from './provider.ts'

const Mobile = z.object({ mobilePhone: z.string(), confidenceScore: WireNumber })
const Reply = z.object({
  status: z.string(),
  people: z.array(z.object({ mobilePhones: z.array(Mobile).nullish() })).nullish(),
})

export const surfePhone = defineAdapter(phone, surfe, {
  price: 5,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, person, { poll }) => {
    const json = { include: { email: false, mobile: true }, people: [toPersonFields(person)] }
    return enrich(ask, { path: '/v2/people/enrich', json, reply: Reply, poll }, ({ people }) => {
      const [best] = (people ?? [])
        .flatMap(({ mobilePhones }) => mobilePhones ?? [])
        .sort((a, b) => (b.confidenceScore ?? 0) - (a.confidenceScore ?? 0))
      return best === undefined ? MISS : hit({ phone: best.mobilePhone, type: 'mobile' })
    })
  },
})
