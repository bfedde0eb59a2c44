import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { findymail } from './provider.ts'

const Reply = z.object({ contact: z.object({ email: WireText }).nullish() })

/** It verifies before it answers. */
export const findymailWorkEmail = defineAdapter(workEmail, findymail, {
  price: 1,
  accepts: hasNameAndDomain,
  run: (ask, { full_name, domain }) => {
    const json = { name: full_name, domain }
    return ask({ method: 'POST', path: '/api/search/name', json }, Reply, ({ contact }) =>
      contact?.email ? hit({ email: contact.email, confidence: null }) : MISS,
    )
  },
})
