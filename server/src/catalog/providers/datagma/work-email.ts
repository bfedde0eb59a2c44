import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { datagma } from './provider.ts'

const Flag = z.union([z.boolean(), z.string()]).nullish()
const Reply = z.object({ email: WireText, smtpCheck: Flag, cachAll: Flag, catchAll: Flag })
const isOn = (flag: z.output<typeof Flag>) => flag === true || flag === 'true'

export const datagmaWorkEmail = defineAdapter(workEmail, datagma, {
  price: 2,
  accepts: hasNameAndDomain,
  run: (ask, { full_name, domain }) => {
    const query = { fullName: full_name, company: domain }
    // The spelling `cachAll` is Datagma's.
    return ask(
      { path: '/api/ingress/v8/findEmail', query },
      Reply,
      ({ email, smtpCheck, cachAll, catchAll }) =>
        email ? hit({ email, confidence: null }, isOn(smtpCheck) && !isOn(cachAll) && !isOn(catchAll)) : MISS,
    )
  },
})
