import { defineAdapter } from '../../provider/adapter.ts'
import { type Verdict, verdict, verification } from '../../questions/verification.ts'
import { enrow } from './provider.ts'
import { search } from './search.ts'

const VERDICTS: Record<string, Verdict> = { valid: 'valid', invalid: 'invalid' }

export const enrowVerification = defineAdapter(verification, enrow, {
  price: 0.5,
  run: (ask, { email }, { poll }) =>
    search(ask, { path: '/email/verify/single', json: { email }, poll }, ({ qualification }) =>
      verdict(VERDICTS[qualification] ?? 'unknown', qualification),
    ),
})
