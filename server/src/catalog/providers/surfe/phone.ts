import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireNumber } from '../../provider/wire-fields.ts'
import { phone } from '../../questions/phone.ts'
import { hasBothNames } from '../../questions/work-email.ts'
import { surfe } from './provider.ts'

const PATH = '/v2/people/enrich'
const Started = z.object({ enrichmentID: z.string() })
const Mobile = z.object({ mobilePhone: z.string(), confidenceScore: WireNumber })
const Result = z.object({
  status: z.string(),
  people: z.array(z.object({ mobilePhones: z.array(Mobile).nullish() })).nullish(),
})

export const surfePhone = defineAdapter(phone, surfe, {
  price: 5,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, { first_name, last_name, domain, linkedin_url }, { poll }) => {
    if (typeof poll !== 'string') {
      const person =
        linkedin_url === ''
          ? { firstName: first_name, lastName: last_name, companyDomain: domain }
          : { linkedinUrl: linkedin_url }
      const json = { include: { email: false, mobile: true }, people: [person] }
      return ask({ method: 'POST', path: PATH, json }, Started, ({ enrichmentID }) => ({
        kind: 'pending',
        afterMs: 2000,
        poll: enrichmentID,
      }))
    }
    return ask({ path: `${PATH}/${encodeURIComponent(poll)}` }, Result, ({ status, people }) => {
      if (status === 'FAILED') return MISS
      if (status !== 'COMPLETED') return { kind: 'pending', afterMs: 3000, poll }
      const [best] = (people ?? [])
        .flatMap(({ mobilePhones }) => mobilePhones ?? [])
        .sort((a, b) => (b.confidenceScore ?? 0) - (a.confidenceScore ?? 0))
      return best === undefined ? MISS : hit({ phone: best.mobilePhone, type: 'mobile' })
    })
  },
})
