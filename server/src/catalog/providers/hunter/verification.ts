import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { verdict, verification, type Verdict } from '../../questions/verification.ts'
import { hunter } from './provider.ts'

const Reply = z.object({
  data: z.object({ status: WireText, score: WireNumber, smtp_check: z.boolean().nullish() }).nullish(),
})
/** `webmail` only names the kind of the mailbox, which is valid from this score on if the server confirmed it. */
const SURE_SCORE = 80
const VERDICTS: Record<string, Verdict> = {
  valid: 'valid',
  invalid: 'invalid',
  accept_all: 'catch_all',
  disposable: 'disposable',
}

export const hunterVerification = defineAdapter(verification, hunter, {
  price: 0.5,
  run: (ask, { email }) =>
    ask({ path: '/v2/email-verifier', query: { email } }, Reply, ({ data }) => {
      // The verification is still running (202). The same request later returns the result.
      if (!data?.status) return { kind: 'pending', afterMs: 3000, poll: null }
      const isSureWebmail =
        data.status === 'webmail' && data.smtp_check === true && (data.score ?? 0) >= SURE_SCORE
      return verdict(isSureWebmail ? 'valid' : (VERDICTS[data.status] ?? 'unknown'), data.status)
    }),
})
