import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { phone } from '../../questions/phone.ts'
import { findymail } from './provider.ts'

const Reply = z.object({ phone: WireText, line_type: WireText })

export const findymailPhone = defineAdapter(phone, findymail, {
  price: 8,
  accepts: ({ linkedin_url }) => linkedin_url !== '',
  run: (ask, { linkedin_url }) =>
    ask({ method: 'POST', path: '/api/search/phone', json: { linkedin_url } }, Reply, (found) =>
      found.phone ? hit({ phone: found.phone, type: found.line_type ?? null }) : MISS,
    ),
})
