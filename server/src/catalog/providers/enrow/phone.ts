import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { phone } from '../../questions/phone.ts'
import { hasBothNames } from '../../questions/work-email.ts'
import { enrow } from './provider.ts'
import { search } from './search.ts'

export const enrowPhone = defineAdapter(phone, enrow, {
  price: 10,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, { first_name, last_name, domain, linkedin_url }, { poll }) => {
    const json = linkedin_url === '' ? { first_name, last_name, company_domain: domain } : { linkedin_url }
    return search(ask, { path: '/phone/single', json, poll }, ({ qualification, number }) =>
      qualification === 'found' && number ? hit({ phone: number, type: null }) : MISS,
    )
  },
})
