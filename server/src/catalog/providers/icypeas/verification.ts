import { defineAdapter } from '../../provider/adapter.ts'
import { type Verdict, verdict, verification } from '../../questions/verification.ts'
import { icypeas } from './provider.ts'
import { search } from './search.ts'

const VERDICTS: Record<string, Verdict> = {
  FOUND: 'valid',
  DEBITED: 'valid',
  NOT_FOUND: 'invalid',
  DEBITED_NOT_FOUND: 'invalid',
  BAD_INPUT: 'invalid',
}

export const icypeasVerification = defineAdapter(verification, icypeas, {
  price: 0.2,
  run: (ask, { email }, { poll }) =>
    search(ask, { path: '/api/email-verification', json: { email }, poll }, ({ status }) =>
      verdict(VERDICTS[status] ?? 'unknown', status.toLowerCase()),
    ),
})
