import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { workEmail } from '../../questions/work-email.ts'
import { blitz } from './provider.ts'

const Reply = z.object({ found: z.boolean().nullish(), email: WireText })

/** Finds work emails. Blitz verifies an address before it returns it. */
export const blitzWorkEmail = defineAdapter(workEmail, blitz, {
  price: 1,
  accepts: ({ linkedin_url }) => linkedin_url !== '',
  run: (ask, { linkedin_url }) => {
    const json = { person_linkedin_url: linkedin_url }
    return ask({ method: 'POST', path: '/v2/enrichment/email', json }, Reply, ({ found, email }) =>
      email && found !== false ? hit({ email, confidence: null }) : MISS,
    )
  },
})
