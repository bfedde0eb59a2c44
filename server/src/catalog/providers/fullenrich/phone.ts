import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { phone } from '../../questions/phone.ts'
import { hasBothNames } from '../../questions/work-email.ts'
import { enrich } from './enrichment.ts'
import { fullenrich } from './provider.ts'

export const fullenrichPhone = defineAdapter(phone, fullenrich, {
  price: 10,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, person, { poll }) =>
    enrich(ask, { person, field: 'contact.phones', poll }, ({ most_probable_phone: found }) =>
      found?.number ? hit({ phone: found.number, type: null }) : MISS,
    ),
})
