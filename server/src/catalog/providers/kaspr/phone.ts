import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { phone } from '../../questions/phone.ts'
import { kaspr } from './provider.ts'

/** Nobody at all is an empty answer. */
const Reply = z
  .object({ profile: z.object({ starryPhone: WireText, phones: z.array(z.string()).nullish() }).nullish() })
  .nullable()

export const kasprPhone = defineAdapter(phone, kaspr, {
  price: 5,
  accepts: ({ linkedin_url }) => slugOf(linkedin_url) !== null,
  run: (ask, { linkedin_url, full_name }) => {
    const id = slugOf(linkedin_url) ?? ''
    const json = { id, name: full_name || id, dataToGet: ['phone'], requiredData: ['phone'] }
    return ask({ method: 'POST', path: '/profile/linkedin', json }, Reply, (reply) => {
      const number = reply?.profile?.starryPhone || reply?.profile?.phones?.[0]
      return number ? hit({ phone: number, type: null }) : MISS
    })
  },
})

/** People are known by the last part of their profile's address. */
function slugOf(linkedinUrl: string): string | null {
  return /linkedin\.com\/in\/([^/?#]+)/i.exec(linkedinUrl)?.[1] ?? null
}
