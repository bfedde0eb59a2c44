import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { phone } from '../../questions/phone.ts'
import { lookUpProfile, readSlug } from './profile.ts'
import { kaspr } from './provider.ts'

export const kasprPhone = defineAdapter(phone, kaspr, {
  price: 5,
  accepts: ({ linkedin_url }) => readSlug(linkedin_url) !== null,
  run: (ask, person) =>
    lookUpProfile(ask, person, 'phone', ({ starryPhone, phones }) => {
      const number = starryPhone || phones?.[0]
      return number ? hit({ phone: number, type: null }) : MISS
    }),
})
