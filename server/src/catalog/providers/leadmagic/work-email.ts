import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasBothNames, workEmail } from '../../questions/work-email.ts'
import { leadmagic } from './provider.ts'

const Reply = z.object({ email: WireText, status: WireText })
/** Of a domain that takes every address it has verified this one in another way. */
const VERIFIED = new Set(['valid', 'valid_catch_all'])

export const leadmagicWorkEmail = defineAdapter(workEmail, leadmagic, {
  price: 1,
  accepts: hasBothNames,
  run: (ask, { first_name, last_name, domain }) => {
    const json = { first_name, last_name, domain }
    return ask({ method: 'POST', path: '/v1/people/email-finder', json }, Reply, ({ email, status }) =>
      email ? hit({ email, confidence: null }, VERIFIED.has(status ?? '')) : MISS,
    )
  },
})
