import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { type Verdict, verdict, verification } from '../../questions/verification.ts'
import { leadmagic } from './provider.ts'

const Reply = z.object({
  email_status: z.string(),
  is_domain_catch_all: z.boolean().nullish(),
  mx_record: WireText,
})
const VERDICTS: Record<string, Verdict> = {
  valid: 'valid',
  valid_catch_all: 'valid',
  invalid: 'invalid',
  catch_all: 'catch_all',
}

export const leadmagicVerification = defineAdapter(verification, leadmagic, {
  price: 0.5,
  run: (ask, { email }) => {
    const request = { method: 'POST', path: '/v1/people/email-validation', json: { email } } as const
    return ask(request, Reply, ({ email_status: status, is_domain_catch_all, mx_record }) => {
      const known = VERDICTS[status] ?? (is_domain_catch_all === true ? 'catch_all' : 'unknown')
      return verdict(known, status, mx_record ?? null)
    })
  },
})
