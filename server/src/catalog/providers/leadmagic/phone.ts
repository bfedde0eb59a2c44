import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { phone } from '../../questions/phone.ts'
import { leadmagic } from './provider.ts'

const Reply = z.object({ mobile_number: WireText })

export const leadmagicPhone = defineAdapter(phone, leadmagic, {
  price: 5,
  accepts: ({ linkedin_url }) => linkedin_url !== '',
  run: (ask, { linkedin_url }) => {
    const json = { profile_url: linkedin_url }
    return ask({ method: 'POST', path: '/v1/people/mobile-finder', json }, Reply, ({ mobile_number }) =>
      mobile_number ? hit({ phone: mobile_number, type: 'mobile' }) : MISS,
    )
  },
})
