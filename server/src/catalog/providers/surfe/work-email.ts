import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasBothNames, workEmail } from '../../questions/work-email.ts'
import { enrich, toPersonFields } from './enrichment.ts'
import { surfe } from './provider.ts'

const Email = z.object({ email: z.string(), validationStatus: WireText })
const Reply = z.object({
  status: z.string(),
  people: z.array(z.object({ emails: z.array(Email).nullish() })).nullish(),
})
const isValid = ({ validationStatus }: z.output<typeof Email>) => validationStatus?.toUpperCase() === 'VALID'

export const surfeWorkEmail = defineAdapter(workEmail, surfe, {
  price: 2,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, person, { poll }) => {
    const json = {
      include: { email: true, mobile: false },
      enrichmentOptions: { acceptedEmailType: 'professional' },
      people: [toPersonFields(person)],
    }
    return enrich(ask, { path: '/v2/people/enrich', json, reply: Reply, poll }, ({ people }) => {
      const emails = (people ?? []).flatMap((found) => found.emails ?? [])
      const best = emails.find(isValid) ?? emails[0]
      return best === undefined ? MISS : hit({ email: best.email, confidence: null }, isValid(best))
    })
  },
})
