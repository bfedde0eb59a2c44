import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { verdict, verification, type Verdict } from '../../questions/verification.ts'
import { neverbounce } from './provider.ts'

const Reply = z.object({ result: z.string(), flags: z.array(z.string()).nullish() })
const VERDICTS: Record<string, Verdict> = {
  valid: 'valid',
  invalid: 'invalid',
  catchall: 'catch_all',
  disposable: 'disposable',
}

export const neverbounceVerification = defineAdapter(verification, neverbounce, {
  price: 0.5,
  run: (ask, { email }) =>
    ask({ path: '/v4/single/check', query: { email } }, Reply, ({ result, flags }) => {
      const found = VERDICTS[result] ?? 'unknown'
      const isRole = found === 'valid' && flags?.includes('role_account') === true
      return verdict(isRole ? 'role' : found, result)
    }),
})
