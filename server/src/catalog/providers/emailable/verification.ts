import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { type Verdict, verdict, verification } from '../../questions/verification.ts'
import { emailable } from './provider.ts'

const Flag = z.boolean().nullish()
const Verified = z.object({
  state: z.string(),
  reason: WireText,
  accept_all: Flag,
  disposable: Flag,
  role: Flag,
  mx_record: WireText,
})
/** The reply while the verification is running (249). The same request later returns the result. */
const Waiting = z.object({ message: z.string() })

export const emailableVerification = defineAdapter(verification, emailable, {
  price: 0.5,
  run: (ask, { email }) =>
    ask({ path: '/v1/verify', query: { email } }, z.union([Verified, Waiting]), (found) => {
      if (!('state' in found)) return { kind: 'pending', afterMs: 3000, poll: null }
      return verdict(readVerdict(found), found.reason ?? found.state, found.mx_record ?? null)
    }),
})

/** Returns the verdict. `risky` has several meanings, which the flags distinguish. */
function readVerdict({ state, accept_all, disposable, role }: z.output<typeof Verified>): Verdict {
  if (state === 'undeliverable') return 'invalid'
  if (disposable === true) return 'disposable'
  if (state === 'deliverable') return role === true ? 'role' : 'valid'
  return state === 'risky' && accept_all === true ? 'catch_all' : 'unknown'
}
