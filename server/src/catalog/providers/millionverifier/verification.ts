import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { verdict, verification, type Verdict } from '../../questions/verification.ts'
import { millionverifier } from './provider.ts'

const Reply = z.object({
  result: z.string(),
  subresult: WireText,
  role: z.boolean().nullish(),
})
const VERDICTS: Record<string, Verdict> = {
  ok: 'valid',
  invalid: 'invalid',
  catch_all: 'catch_all',
  disposable: 'disposable',
}

export const millionverifierVerification = defineAdapter(verification, millionverifier, {
  price: 0.3,
  run: (ask, { email }) =>
    ask({ path: '/api/v3/', query: { email, timeout: 20 } }, Reply, ({ result, subresult, role }) => {
      const found = VERDICTS[result] ?? 'unknown'
      return verdict(found === 'valid' && role === true ? 'role' : found, subresult || result)
    }),
})
