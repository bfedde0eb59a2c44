import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { datagma } from './provider.ts'

const Reply = z.object({
  email: WireText,
  smtpCheck: z.union([z.boolean(), z.string()]).nullish(),
})

export const datagmaWorkEmail = defineAdapter(workEmail, datagma, {
  price: 2,
  accepts: hasNameAndDomain,
  run: (ask, { full_name, domain }) => {
    const query = { fullName: full_name, company: domain }
    return ask({ path: '/api/ingress/v8/findEmail', query }, Reply, ({ email, smtpCheck }) =>
      email ? hit({ email, confidence: null }, smtpCheck === true || smtpCheck === 'true') : MISS,
    )
  },
})
