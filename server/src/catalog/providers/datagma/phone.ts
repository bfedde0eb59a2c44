import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { phone } from '../../questions/phone.ts'
import { datagma } from './provider.ts'

const Number = z.object({ number: WireText, displayInternational: WireText })
const Reply = z.object({ person: z.object({ phones: z.array(Number).nullish() }).nullish() })

export const datagmaPhone = defineAdapter(phone, datagma, {
  price: 8,
  accepts: ({ linkedin_url }) => linkedin_url !== '',
  run: (ask, { linkedin_url }) => {
    const query = { username: linkedin_url, minimumMatch: 1 }
    return ask({ path: '/api/ingress/v1/search', query }, Reply, ({ person }) => {
      const found = person?.phones?.map((one) => one.displayInternational || one.number).find((text) => text)
      return found ? hit({ phone: found, type: null }) : MISS
    })
  },
})
