import { defineAdapter } from '../../provider/adapter.ts'
import { refusal } from '../../provider/reply.ts'
import { type Verdict, verdict, verification } from '../../questions/verification.ts'
import { icypeas } from './provider.ts'
import { search } from './search.ts'

/** The verdict is a certainty. `not_found` means that Icypeas cannot tell, because the server accepts everything. */
const VERDICTS: Record<string, Verdict> = {
  ultra_sure: 'valid',
  very_sure: 'valid',
  probable: 'valid',
  undeliverable: 'invalid',
}

export const icypeasVerification = defineAdapter(verification, icypeas, {
  price: 0.2,
  run: (ask, { email }, { poll }) =>
    search(ask, { path: '/api/email-verification', json: { email }, poll }, ({ status, results }) => {
      if (status === 'BAD_INPUT') return refusal('ineligible', 'it does not accept this address')
      const certainty = results?.emails?.[0]?.certainty ?? ''
      return verdict(VERDICTS[certainty] ?? 'unknown', certainty || status.toLowerCase())
    }),
})
