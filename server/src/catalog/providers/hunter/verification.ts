import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { verdict, verification, type Verdict } from '../../questions/verification.ts'
import { hunter } from './provider.ts'

const Reply = z.object({ data: z.object({ status: WireText }).nullish() })
const VERDICTS: Record<string, Verdict> = {
  valid: 'valid',
  webmail: 'valid',
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
      return verdict(VERDICTS[data.status] ?? 'unknown', data.status)
    }),
})
