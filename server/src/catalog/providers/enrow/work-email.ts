import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { enrow } from './provider.ts'
import { search } from './search.ts'

/** Finds work emails. Enrow verifies an address before it returns it, also if a domain accepts every address. */
export const enrowWorkEmail = defineAdapter(workEmail, enrow, {
  price: 1,
  accepts: hasNameAndDomain,
  run: (ask, { full_name, domain }, { poll }) => {
    const json = { fullname: full_name, company_domain: domain }
    return search(ask, { path: '/email/find/single', json, poll }, ({ qualification, email }) =>
      qualification === 'valid' && email ? hit({ email, confidence: null }) : MISS,
    )
  },
})
