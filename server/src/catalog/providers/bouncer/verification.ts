import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { type Verdict, verdict, verification } from '../../questions/verification.ts'
import { bouncer } from './provider.ts'

const Flag = z.union([z.boolean(), z.string()]).nullish()
const Reply = z.object({
  status: z.string(),
  reason: WireText,
  domain: z.object({ acceptAll: Flag, disposable: Flag }).nullish(),
  account: z.object({ role: Flag }).nullish(),
})
const isOn = (flag: z.output<typeof Flag>) => flag === true || flag === 'yes'

export const bouncerVerification = defineAdapter(verification, bouncer, {
  price: 0.5,
  run: (ask, { email }) =>
    ask({ path: '/v1.1/email/verify', query: { email, timeout: 20 } }, Reply, (found) =>
      verdict(readVerdict(found), found.reason ?? found.status),
    ),
})

/** Returns the verdict. `risky` has several meanings, which the flags distinguish. */
function readVerdict({ status, domain, account }: z.output<typeof Reply>): Verdict {
  if (status === 'undeliverable') return 'invalid'
  if (isOn(domain?.disposable)) return 'disposable'
  if (status === 'deliverable') return isOn(account?.role) ? 'role' : 'valid'
  return status === 'risky' && isOn(domain?.acceptAll) ? 'catch_all' : 'unknown'
}
