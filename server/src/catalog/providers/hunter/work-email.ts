import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { hunter } from './provider.ts'

const Reply = z.object({
  data: z
    .object({
      email: WireText,
      score: WireNumber,
      verification: z.object({ status: WireText }).nullish(),
    })
    .nullish(),
})

export const hunterWorkEmail = defineAdapter(workEmail, hunter, {
  price: 1,
  accepts: hasNameAndDomain,
  run: (ask, { domain, full_name }) =>
    ask({ path: '/v2/email-finder', query: { domain, full_name } }, Reply, ({ data }) => {
      // The search is still running (202). The same request later returns the result.
      if (!data) return { kind: 'pending', afterMs: 3000, poll: null }
      if (!data.email) return MISS
      const confidence = typeof data.score === 'number' ? data.score / 100 : null
      return hit({ email: data.email, confidence }, data.verification?.status === 'valid')
    }),
})
