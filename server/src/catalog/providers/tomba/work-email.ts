import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { hasBothNames, workEmail } from '../../questions/work-email.ts'
import { tomba } from './provider.ts'

const Reply = z.object({
  data: z.object({
    email: WireText,
    score: WireNumber,
    verification: z.object({ status: WireText }).nullish(),
  }),
})

export const tombaWorkEmail = defineAdapter(workEmail, tomba, {
  price: 1,
  accepts: hasBothNames,
  run: (ask, { domain, first_name, last_name }) =>
    ask({ path: '/v1/email-finder', query: { domain, first_name, last_name } }, Reply, ({ data }) => {
      if (!data.email) return MISS
      const confidence = typeof data.score === 'number' ? data.score / 100 : null
      return hit({ email: data.email, confidence }, data.verification?.status === 'valid')
    }),
})
