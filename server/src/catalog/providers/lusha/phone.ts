import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { phone } from '../../questions/phone.ts'
import { hasBothNames } from '../../questions/work-email.ts'
import { revealContact } from './contact.ts'
import { lusha } from './provider.ts'

/** Finds phone numbers, leaving out those of people who must not be called. */
export const lushaPhone = defineAdapter(phone, lusha, {
  price: 8,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, person) =>
    revealContact(ask, person, 'phones', ({ phones }) => {
      const allowed = (phones ?? []).filter(({ doNotCall }) => doNotCall !== true)
      const best = allowed.find(({ type }) => type === 'mobile') ?? allowed[0]
      return best === undefined ? MISS : hit({ phone: best.number, type: best.type ?? null })
    }),
})
