import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { type Verdict, verdict, verification } from '../../questions/verification.ts'
import { reoon } from './provider.ts'

const Reply = z.object({ status: z.string(), mx_records: z.array(z.string()).nullish() })
const VERDICTS: Record<string, Verdict> = {
  safe: 'valid',
  valid: 'valid',
  invalid: 'invalid',
  disabled: 'invalid',
  spamtrap: 'invalid',
  disposable: 'disposable',
  catch_all: 'catch_all',
  role_account: 'role',
}

export const reoonVerification = defineAdapter(verification, reoon, {
  price: 0.3,
  run: (ask, { email }) =>
    ask({ path: '/api/v1/verify', query: { email, mode: 'power' } }, Reply, ({ status, mx_records }) =>
      verdict(VERDICTS[status] ?? 'unknown', status, mx_records?.[0] ?? null),
    ),
})
