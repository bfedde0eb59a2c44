import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { verdict, verification, type Verdict } from '../../questions/verification.ts'
import { zerobounce } from './provider.ts'

const Reply = z.object({
  status: z.string(),
  sub_status: WireText,
  mx_record: WireText,
})
const VERDICTS: Record<string, Verdict> = {
  valid: 'valid',
  invalid: 'invalid',
  'catch-all': 'catch_all',
  spamtrap: 'invalid',
  abuse: 'invalid',
  do_not_mail: 'invalid',
}
const OF_SUB_STATUS: Record<string, Verdict> = {
  disposable: 'disposable',
  role_based: 'role',
  role_based_catch_all: 'role',
}

export const zerobounceVerification = defineAdapter(verification, zerobounce, {
  price: 0.5,
  run: (ask, { email }) =>
    ask(
      { path: '/v2/validate', query: { email, ip_address: '' } },
      Reply,
      ({ status, sub_status, mx_record }) => {
        const found = OF_SUB_STATUS[sub_status ?? ''] ?? VERDICTS[status.toLowerCase()] ?? 'unknown'
        return verdict(found, sub_status || null, mx_record || null)
      },
    ),
})
